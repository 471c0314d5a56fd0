"""Secrets at rest: encrypted under a key-encryption key that is kept somewhere else.

ChaCha20-Poly1305 with a fresh nonce. The associated data say what a secret is, so that none can
be put in another's place in a database.
"""

from random import Random
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from fedperm.errors import SealedError, SettingsError
from fedperm.ids import EpochNumber, KeyName

KEY_OCTETS = 32
_NONCE_OCTETS = 12


class KeyEncryptionKey:
    """Wraps and unwraps. Shows nothing when printed, cannot be pickled or copied."""

    __slots__ = ("_cipher",)

    def __init__(self, octets: bytes) -> None:
        if len(octets) != KEY_OCTETS:
            raise SettingsError(
                f"a key-encryption key of {len(octets)} octets", f"use {KEY_OCTETS} random ones"
            )
        self._cipher = ChaCha20Poly1305(octets)

    def wrap(self, secret: bytes, purpose: str, randomness: Random) -> bytes:
        """Nonce, then ciphertext."""
        nonce = randomness.randbytes(_NONCE_OCTETS)
        return nonce + self._cipher.encrypt(nonce, secret, purpose.encode())

    def unwrap(self, wrapped: bytes, purpose: str) -> bytes:
        nonce, ciphertext = wrapped[:_NONCE_OCTETS], wrapped[_NONCE_OCTETS:]
        try:
            return self._cipher.decrypt(nonce, ciphertext, purpose.encode())
        except (InvalidTag, ValueError):
            raise SealedError(
                "the key-encryption key does not open what the database holds",
                "start with the key-encryption key of this database, or restore its backup",
            ) from None

    def __repr__(self) -> str:
        return "<KeyEncryptionKey>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("a key-encryption key cannot be pickled or copied")

    __reduce__ = __getstate__


def wrap_epoch_secret(
    secret: bytes, kek: KeyEncryptionKey, randomness: Random, *, key: KeyName, epoch: EpochNumber
) -> bytes:
    return kek.wrap(secret, _purpose(key, epoch), randomness)


def unwrap_epoch_secret(
    wrapped: bytes, kek: KeyEncryptionKey, *, key: KeyName, epoch: EpochNumber
) -> bytes:
    return kek.unwrap(wrapped, _purpose(key, epoch))


def _purpose(key: KeyName, epoch: EpochNumber) -> str:
    return f"fedperm/1 secret key at rest\x00{key}\x00{epoch}"
