"""A party's own two key pairs: Ed25519 for what it says, X25519 for what is sealed to it."""

from dataclasses import dataclass
from random import Random
from typing import NoReturn, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.wire.message import Message
from fedperm.wire.public_keys import (
    KeyText,
    SealingKeyText,
    SecretText,
    from_text,
    text_of,
    to_text,
)

_OCTETS = 32


class _StoredPairs(Message):
    """Private halves."""

    signing_key: SecretText
    sealing_key: SecretText

    def __repr__(self) -> str:
        return "<stored key pairs>"

    __str__ = __repr__


@dataclass(frozen=True, repr=False)
class KeyPairs:
    """Shows nothing when printed, cannot be pickled or copied."""

    signing: Ed25519PrivateKey
    sealing: X25519PrivateKey

    @classmethod
    def drawn(cls, randomness: Random) -> Self:
        signing, sealing = randomness.randbytes(_OCTETS), randomness.randbytes(_OCTETS)
        return cls._of(signing, sealing)

    @classmethod
    def from_json(cls, octets: bytes) -> Self:
        """ValueError for what `to_json` did not make."""
        stored = _StoredPairs.model_validate_json(octets)
        return cls._of(from_text(stored.signing_key), from_text(stored.sealing_key))

    def to_json(self) -> bytes:
        """For a file of mode 0600."""
        stored = _StoredPairs(
            signing_key=to_text(self.signing.private_bytes_raw()),
            sealing_key=to_text(self.sealing.private_bytes_raw()),
        )
        return stored.model_dump_json().encode()

    @property
    def signing_text(self) -> KeyText:
        """The public half, as messages carry it."""
        return text_of(self.signing.public_key())

    @property
    def sealing_text(self) -> SealingKeyText:
        return text_of(self.sealing.public_key())

    @classmethod
    def _of(cls, signing: bytes, sealing: bytes) -> Self:
        return cls(
            Ed25519PrivateKey.from_private_bytes(signing),
            X25519PrivateKey.from_private_bytes(sealing),
        )

    def __getstate__(self) -> NoReturn:
        raise TypeError("private keys cannot be pickled or copied")

    __reduce__ = __getstate__
