"""Secret keys on their way to one client: HPKE (RFC 9180), base mode, by pyca/cryptography.

`info` binds the key's name, its epoch and the client, so a sealed key opens nowhere else. Base
mode does not say who sealed it: the key server signs what it sends (`wire.statements`).
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from fedperm.errors import UntrustedError
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def seal_key(
    secret_key: SecretKey, recipient: X25519PublicKey, *, key: str, epoch: int, client: str
) -> bytes:
    octets = secret_key_to_bytes(secret_key, SECRET_KEY_ACCESS)
    return _SUITE.encrypt(octets, recipient, info=_info(key, epoch, client))


def open_key(
    sealed: bytes,
    recipient: X25519PrivateKey,
    *,
    key: str,
    epoch: int,
    client: str,
    insecure_for_tests: bool = False,
) -> SecretKey:
    try:
        octets = _SUITE.decrypt(sealed, recipient, info=_info(key, epoch, client))
    except (InvalidTag, ValueError):
        raise UntrustedError(
            f"epoch {epoch} of key {key} is not sealed to this client",
            "ask the key server again with the keys that this client enrolled with",
        ) from None
    return secret_key_from_bytes(octets, SECRET_KEY_ACCESS, insecure_for_tests=insecure_for_tests)


def _info(key: str, epoch: int, client: str) -> bytes:
    return f"fedperm/1 secret key\x00{key}\x00{epoch}\x00{client}".encode()
