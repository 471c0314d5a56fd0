"""The secret half of Paillier's scheme."""

from functools import cached_property
from random import Random
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import KeyStrengthError, ParameterError
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.layout import PackedLayout
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.public_key import read_ciphertexts
from fedperm.schemes.paillier.scheme import Paillier
from fedperm.schemes.scheme import Arrays, Layout, Scheme
from fedperm_secret.access import SecretKeyAccess
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from fedperm_secret.schemes.paillier.measuring_keys import measuring_key
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes
from fedperm_secret.schemes.scheme import SecretKey as AnySecretKey


class _Opened:
    """A secret key with what is worked out once for it: for decryption, and tables for blinding."""

    def __init__(self, key: SecretKey) -> None:
        self._key = key
        self.decryptor = Decryptor(key)

    def __reduce__(self) -> NoReturn:
        raise TypeError("this holds a secret key and cannot be pickled or copied")

    @cached_property
    def blinding(self) -> SecretBlinding:
        return SecretBlinding(self._key)


class PaillierSecretHalf:
    def __init__(self, opened: _Opened, layout: PackedLayout) -> None:
        self._opened = opened
        self._layout = layout

    def __reduce__(self) -> NoReturn:
        raise TypeError("this holds a secret key and cannot be pickled or copied")

    def with_layout(self, layout: Layout) -> "PaillierSecretHalf":
        return PaillierSecretHalf(self._opened, _own_layout(layout))

    def warm_up(self) -> None:
        _ = self._opened.blinding

    def encoder(self, randomness: Random) -> MaskEncoder:
        return MaskEncoder(self._layout, BlindingPool(self._opened.blinding, randomness))

    def decrypt(self, total: Arrays) -> NDArray[np.int64]:
        packing, numbers = self._layout.packing, read_ciphertexts(total["ciphertexts"])
        decrypt, groups = self._opened.decryptor.decrypt, range(packing.groups)
        rows = [
            np.concatenate([packing.split(decrypt(next(numbers)), group) for group in groups])
            for _ in range(self._layout.geometry.windows)
        ]
        return np.stack(rows)


class SecretPaillier:
    name: ClassVar[str] = Paillier.name

    def generate(self, scheme: Scheme, randomness: Random) -> SecretKey:
        return generate_key(
            randomness, scheme.key_bits, insecure_for_tests=_own(scheme).insecure_for_tests
        )

    def measuring_key(self, scheme: Scheme, randomness: Random) -> SecretKey:
        insecure = _own(scheme).insecure_for_tests
        return measuring_key(scheme.key_bits, randomness, insecure_for_tests=insecure)

    def to_bytes(self, key: AnySecretKey, access: SecretKeyAccess) -> bytes:
        return secret_key_to_bytes(_own_key(key), access)

    def from_bytes(self, data: bytes, scheme: Scheme, access: SecretKeyAccess) -> SecretKey:
        insecure = _own(scheme).insecure_for_tests
        key = secret_key_from_bytes(data, access, insecure_for_tests=insecure)
        if key.public_key.key_bits != scheme.key_bits:
            raise KeyStrengthError(
                f"a secret key of {key.public_key.key_bits} bits, expected {scheme.key_bits}",
                "ask the key operator which key this is",
            )
        return key

    def secret_half(self, key: AnySecretKey, layout: Layout) -> PaillierSecretHalf:
        return PaillierSecretHalf(_Opened(_own_key(key)), _own_layout(layout))


SECRET_PAILLIER = SecretPaillier()


def _own(scheme: Scheme) -> Paillier:
    if not isinstance(scheme, Paillier):
        raise ParameterError(f"{scheme.name} is another scheme", "use its own secret half")
    return scheme


def _own_layout(layout: Layout) -> PackedLayout:
    if not isinstance(layout, PackedLayout):
        raise ParameterError("a layout of another scheme", "plan the run for its key")
    return layout


def _own_key(key: AnySecretKey) -> SecretKey:
    if not isinstance(key, SecretKey):
        raise ParameterError("a secret key of another scheme", "use its own secret half")
    return key
