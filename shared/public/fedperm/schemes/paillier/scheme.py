"""Paillier's scheme as one of `fedperm.schemes`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from gmpy2 import mpz

from fedperm.errors import KeyStrengthError, ParameterError
from fedperm.schemes.paillier.layout import PackedLayout
from fedperm.schemes.paillier.packing import Packing
from fedperm.schemes.paillier.public_half import PaillierPublicHalf
from fedperm.schemes.paillier.public_key import DEFAULT_KEY_BITS, PublicKey, check_key_bits
from fedperm.schemes.scheme import Layout, Scheme
from fedperm.schemes.scheme import PublicKey as AnyPublicKey
from fedperm.windows import Geometry

__all__ = ["DEFAULT_KEY_BITS", "Paillier", "make_paillier"]


@dataclass(frozen=True)
class Paillier:
    """Keys of so many bits. `insecure_for_tests` admits short ones."""

    name: ClassVar[str] = "paillier"

    key_bits: int = DEFAULT_KEY_BITS
    insecure_for_tests: bool = field(default=False, compare=False)

    @property
    def parameters(self) -> Mapping[str, int]:
        return {"key_bits": self.key_bits}

    def layout(self, geometry: Geometry, value_bits: int, clients: int) -> PackedLayout:
        return PackedLayout(geometry, Packing(self.key_bits, clients, value_bits, geometry.k1))

    def public_key(self, material: Mapping[str, str]) -> PublicKey:
        match material:
            case {"n": str(digits)} if len(material) == 1 and _HEXADECIMAL.fullmatch(digits):
                key = PublicKey(mpz(int(digits, 16)), self.insecure_for_tests)
            case _:
                raise KeyStrengthError("a Paillier key is n in hexadecimal, nothing else", _AGAIN)
        if key.key_bits != self.key_bits:
            raise KeyStrengthError(f"n has {key.key_bits} bits, expected {self.key_bits}", _AGAIN)
        return key

    def public_half(self, key: AnyPublicKey, layout: Layout) -> PaillierPublicHalf:
        """Under a shorter key than its slots were cut for, sums would wrap round silently."""
        if not isinstance(key, PublicKey) or not isinstance(layout, PackedLayout):
            raise ParameterError("a key or a layout of another scheme", "plan the run for its key")
        if key.key_bits != layout.packing.key_bits:
            raise ParameterError(
                f"a key of {key.key_bits} bits for a plan of {layout.packing.key_bits} bits",
                "plan the run for the key it uses",
            )
        return PaillierPublicHalf(key, layout)


_AGAIN = "get the record again from the key server"
_HEXADECIMAL = re.compile("[0-9a-f]{1,1024}")


def make_paillier(parameters: Mapping[str, int], *, insecure_for_tests: bool) -> Scheme:
    if set(parameters) != {"key_bits"}:
        raise ParameterError(
            f"Paillier has the parameter key_bits, not {', '.join(sorted(parameters)) or 'none'}",
            "give key_bits and nothing else",
        )
    check_key_bits(parameters["key_bits"], insecure_for_tests=insecure_for_tests)
    return Paillier(parameters["key_bits"], insecure_for_tests)
