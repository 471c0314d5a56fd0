"""The open vault: the key-encryption key, and what it opens.

There is none without the key-encryption key of this database: then the server is sealed.
"""

import re
from dataclasses import dataclass, field
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.errors import SettingsError
from fedperm.ids import EpochNumber, KeyName
from fedperm.wire.public_keys import text_of
from fedperm_keyserver.records import Epoch, StoredIdentity
from fedperm_secret.at_rest import KeyEncryptionKey, unwrap_epoch_secret, wrap_epoch_secret

_HEXADECIMAL = re.compile("[0-9a-fA-F]{64}")
_SIGNING_KEY_OCTETS = 32


def key_encryption_key(text: str) -> KeyEncryptionKey:
    """From its text, which is not repeated in an error."""
    if not _HEXADECIMAL.fullmatch(text):
        raise SettingsError(
            "the key-encryption key is not 64 hexadecimal digits",
            "make one with: openssl rand -hex 32",
        )
    return KeyEncryptionKey(bytes.fromhex(text))


@dataclass(frozen=True)
class Vault:
    kek: KeyEncryptionKey
    signing_key: Ed25519PrivateKey = field(repr=False)
    randomness: Random

    def put_away(self, secret: bytes, key: KeyName, epoch: EpochNumber) -> bytes:
        return wrap_epoch_secret(secret, self.kek, self.randomness, key=key, epoch=epoch)

    def take_out(self, epoch: Epoch) -> bytes:
        return unwrap_epoch_secret(epoch.wrapped, self.kek, key=epoch.key, epoch=epoch.number)


def new_identity(kek: KeyEncryptionKey, randomness: Random) -> StoredIdentity:
    octets = randomness.randbytes(_SIGNING_KEY_OCTETS)
    public = text_of(Ed25519PrivateKey.from_private_bytes(octets).public_key())
    return StoredIdentity(public, kek.wrap(octets, _purpose(public), randomness))


def unwrap_signing_key(identity: StoredIdentity, kek: KeyEncryptionKey) -> Ed25519PrivateKey:
    """The private key of exactly this identity: its public key is bound to what is wrapped."""
    octets = kek.unwrap(identity.wrapped, _purpose(identity.signing_key))
    return Ed25519PrivateKey.from_private_bytes(octets)


def _purpose(public: str) -> str:
    return f"fedperm/1 signing key at rest\x00{public}"
