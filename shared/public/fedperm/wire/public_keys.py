"""Ed25519 and X25519 public keys as text: 32 octets in base64url without padding (RFC 8037)."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from pydantic import AfterValidator

_OCTETS = 32


def to_text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """The octets; refuses every text that is not the one that `to_text` makes of them."""
    octets = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_text(octets) != text:
        raise ValueError("not base64url without padding")
    return octets


def _checked(text: str) -> str:
    if len(from_text(text)) != _OCTETS:
        raise ValueError(f"not {_OCTETS} octets")
    return text


KeyText = Annotated[str, AfterValidator(_checked)]


def text_of(key: Ed25519PublicKey | X25519PublicKey) -> KeyText:
    return to_text(key.public_bytes_raw())


def signing_key(text: KeyText) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(from_text(text))


def sealing_key(text: KeyText) -> X25519PublicKey:
    return X25519PublicKey.from_public_bytes(from_text(text))


def fingerprint(text: KeyText) -> str:
    """SHA-256 of the octets, in hexadecimal: what people compare."""
    return hashlib.sha256(from_text(text)).hexdigest()
