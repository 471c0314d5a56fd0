"""What one party alone may read: HPKE (RFC 9180), base mode, by pyca/cryptography.

`info` binds what is sealed to its purpose and place, so it opens nowhere else: a secret key to the
key's name, its epoch and the client. Base mode does not say who sealed it: the key server signs
what it sends (`wire.statements`).
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from fedperm.errors import UntrustedError
from fedperm.ids import ClientName, EpochNumber, KeyName

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
_KEY_RELEASE = "fedperm/1 secret key"

Place = tuple[str | int, ...]


def seal_to(recipient: X25519PublicKey, octets: bytes, *, purpose: str, place: Place) -> bytes:
    """48 octets longer."""
    return _SUITE.encrypt(octets, recipient, info=_info(purpose, place))


def open_with(recipient: X25519PrivateKey, sealed: bytes, *, purpose: str, place: Place) -> bytes:
    """ValueError for what was sealed to another, or for another purpose or place."""
    try:
        return _SUITE.decrypt(sealed, recipient, info=_info(purpose, place))
    except InvalidTag:
        raise ValueError("not sealed to this key, or for another place") from None


def seal(
    secret: bytes,
    recipient: X25519PublicKey,
    *,
    key: KeyName,
    epoch: EpochNumber,
    client: ClientName,
) -> bytes:
    return seal_to(recipient, secret, purpose=_KEY_RELEASE, place=(key, epoch, client))


def open_sealed(
    sealed: bytes,
    recipient: X25519PrivateKey,
    *,
    key: KeyName,
    epoch: EpochNumber,
    client: ClientName,
) -> bytes:
    try:
        return open_with(recipient, sealed, purpose=_KEY_RELEASE, place=(key, epoch, client))
    except ValueError:
        raise UntrustedError(
            f"epoch {epoch} of key {key} is not sealed to this client",
            "ask the key server again with the keys that this client enrolled with",
        ) from None


def _info(purpose: str, place: Place) -> bytes:
    """Names and numbers hold no zero: no two places have the same octets."""
    return "\x00".join([purpose, *map(str, place)]).encode()
