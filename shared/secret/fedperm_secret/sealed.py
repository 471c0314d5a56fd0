"""Secrets on their way to one client: HPKE (RFC 9180), base mode, by pyca/cryptography.

`info` binds the key's name, its epoch and the client, so what is sealed opens nowhere else. Base
mode does not say who sealed it: the key server signs what it sends (`wire.statements`).
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from fedperm.errors import UntrustedError
from fedperm.ids import ClientName, EpochNumber, KeyName

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def seal(
    secret: bytes,
    recipient: X25519PublicKey,
    *,
    key: KeyName,
    epoch: EpochNumber,
    client: ClientName,
) -> bytes:
    return _SUITE.encrypt(secret, recipient, info=_info(key, epoch, client))


def open_sealed(
    sealed: bytes,
    recipient: X25519PrivateKey,
    *,
    key: KeyName,
    epoch: EpochNumber,
    client: ClientName,
) -> bytes:
    try:
        return _SUITE.decrypt(sealed, recipient, info=_info(key, epoch, client))
    except (InvalidTag, ValueError):
        raise UntrustedError(
            f"epoch {epoch} of key {key} is not sealed to this client",
            "ask the key server again with the keys that this client enrolled with",
        ) from None


def _info(key: KeyName, epoch: EpochNumber, client: ClientName) -> bytes:
    return f"fedperm/1 secret key\x00{key}\x00{epoch}\x00{client}".encode()
