"""Secrets at rest: encrypted under a key-encryption key that is kept somewhere else.

ChaCha20-Poly1305 with a fresh nonce. The associated data say what a secret is, so that none can
be put in another's place in a database. In front stands which key wrapped it, so that whoever has
changed that key knows what is under the old one; secrets of older versions do not say it.
"""

import hashlib
import hmac
from random import Random
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from fedperm.errors import SealedError, SettingsError
from fedperm.ids import EpochNumber, KeyName

KEY_OCTETS = 32
_NONCE_OCTETS = 12
_FORM = b"fpw2"
_IDENTIFIER_OCTETS = 8
_HEAD_OCTETS = len(_FORM) + _IDENTIFIER_OCTETS


class KeyEncryptionKey:
    """Wraps and unwraps. Shows nothing when printed, cannot be pickled or copied."""

    __slots__ = ("_cipher", "identifier")

    def __init__(self, octets: bytes) -> None:
        if len(octets) != KEY_OCTETS:
            raise SettingsError(
                f"a key-encryption key of {len(octets)} octets", f"use {KEY_OCTETS} random ones"
            )
        self._cipher = ChaCha20Poly1305(octets)
        digest = hmac.digest(
            octets, b"fedperm/3 identifier of a key-encryption key", hashlib.sha256
        )
        self.identifier = digest[:_IDENTIFIER_OCTETS].hex()
        """Says which key it is, and nothing about it."""

    def wrap(self, secret: bytes, purpose: str, randomness: Random) -> bytes:
        """Form and identifier, nonce, ciphertext."""
        head, nonce = self._head, randomness.randbytes(_NONCE_OCTETS)
        return head + nonce + self._cipher.encrypt(nonce, secret, head + purpose.encode())

    def unwrap(self, wrapped: bytes, purpose: str) -> bytes:
        """Also what an older version wrapped: its random nonce begins like this key's head with a
        probability of 2^-96."""
        head = self._head if wrapped.startswith(self._head) else b""
        nonce, ciphertext = (
            wrapped[len(head) :][:_NONCE_OCTETS],
            wrapped[len(head) :][_NONCE_OCTETS:],
        )
        try:
            return self._cipher.decrypt(nonce, ciphertext, head + purpose.encode())
        except (InvalidTag, ValueError):
            other = "" if head else wrapped_by(wrapped)
            which = f": {other} wrapped it, this is {self.identifier}" if other else ""
            raise SealedError(
                f"the key-encryption key does not open what the database holds{which}",
                "start with the key-encryption key of this database, or restore its backup",
            ) from None

    @property
    def _head(self) -> bytes:
        return _FORM + bytes.fromhex(self.identifier)

    def __repr__(self) -> str:
        return "<KeyEncryptionKey>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("a key-encryption key cannot be pickled or copied")

    __reduce__ = __getstate__


def wrapped_by(wrapped: bytes) -> str:
    """The identifier of the key-encryption key; empty if an older version wrapped it."""
    head = wrapped[:_HEAD_OCTETS]
    return head[len(_FORM) :].hex() if head.startswith(_FORM) else ""


def wrap_epoch_secret(
    secret: bytes, kek: KeyEncryptionKey, randomness: Random, *, key: KeyName, epoch: EpochNumber
) -> bytes:
    return kek.wrap(secret, epoch_purpose(key, epoch), randomness)


def unwrap_epoch_secret(
    wrapped: bytes, kek: KeyEncryptionKey, *, key: KeyName, epoch: EpochNumber
) -> bytes:
    return kek.unwrap(wrapped, epoch_purpose(key, epoch))


def epoch_purpose(key: KeyName, epoch: EpochNumber) -> str:
    return f"fedperm/1 secret key at rest\x00{key}\x00{epoch}"
