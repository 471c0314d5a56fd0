"""The open vault: the key-encryption key, and what it opens.

There is none without the key-encryption key of this database: then the server is sealed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.errors import SettingsError
from fedperm.ids import EpochNumber, KeyName
from fedperm.wire.public_keys import text_of
from fedperm.wire.signed import sign
from fedperm.wire.statements import IdentitySuccession
from fedperm_keyserver.records import Rewrap, StoredIdentity, Wrapped
from fedperm_keyserver.stores.guard import Guard
from fedperm_secret.at_rest import KeyEncryptionKey, wrap_epoch_secret, wrapped_by

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
    """`signing_keys` by the fingerprints of their identities, the newest one last."""

    kek: KeyEncryptionKey
    guard: Guard
    signing_keys: Mapping[str, Ed25519PrivateKey] = field(repr=False)
    randomness: Random

    @property
    def signing_key(self) -> Ed25519PrivateKey:
        return list(self.signing_keys.values())[-1]

    def put_away(self, secret: bytes, key: KeyName, epoch: EpochNumber) -> bytes:
        return wrap_epoch_secret(secret, self.kek, self.randomness, key=key, epoch=epoch)

    def take_out(self, secret: Wrapped) -> bytes:
        return self.kek.unwrap(secret.wrapped, secret.purpose)


def open_vault(
    identities: Sequence[StoredIdentity],
    guard: Guard,
    kek: KeyEncryptionKey,
    randomness: Random,
) -> Vault:
    """With all identities that are not retired; a SealedError if `kek` does not open them."""
    held = [identity for identity in identities if identity.wrapped]
    signing = {identity.fingerprint: unwrap_signing_key(identity, kek) for identity in held}
    return Vault(kek, guard, signing, randomness)


def new_identity(kek: KeyEncryptionKey, randomness: Random) -> StoredIdentity:
    octets = randomness.randbytes(_SIGNING_KEY_OCTETS)
    public = text_of(Ed25519PrivateKey.from_private_bytes(octets).public_key())
    blank = StoredIdentity(public, b"")
    return replace(blank, wrapped=kek.wrap(octets, blank.purpose, randomness))


def unwrap_signing_key(identity: StoredIdentity, kek: KeyEncryptionKey) -> Ed25519PrivateKey:
    """The private key of exactly this identity: its public key is bound to what is wrapped."""
    octets = kek.unwrap(identity.wrapped, identity.purpose)
    return Ed25519PrivateKey.from_private_bytes(octets)


def new_successor(vault: Vault, newest: StoredIdentity, now: float) -> StoredIdentity:
    """For the newest identity, which says so itself."""
    fresh = new_identity(vault.kek, vault.randomness)
    succession = IdentitySuccession(
        signing_key=newest.signing_key, successor=fresh.signing_key, iat=int(now)
    )
    return replace(
        fresh, generation=newest.generation + 1, succession=sign(succession, vault.signing_key)
    )


def rewrapping(old: KeyEncryptionKey, new: KeyEncryptionKey, randomness: Random) -> Rewrap:
    """From one key-encryption key to another. What is under the new one already stays as it is, so
    that it can be done again; what neither opens is refused."""

    def rewrap(secret: Wrapped) -> bytes:
        if wrapped_by(secret.wrapped) == new.identifier:
            new.unwrap(secret.wrapped, secret.purpose)
            return secret.wrapped
        octets = old.unwrap(secret.wrapped, secret.purpose)
        return new.wrap(octets, secret.purpose, randomness)

    return rewrap


def rewrap_unmarked(identity: StoredIdentity, kek: KeyEncryptionKey, randomness: Random) -> bytes:
    """As it is wrapped where rows are marked (`integrity`); opens only what is from before."""
    octets = kek.unwrap(identity.wrapped, identity.former_purpose)
    return kek.wrap(octets, identity.purpose, randomness)
