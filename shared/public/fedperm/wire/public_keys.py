"""Ed25519 and X25519 public keys as text: 32 octets in base64url without padding (RFC 8037).

Here, where a peer's key enters, those are refused that are nobody's own: for a point of small order
anybody signs (0 = 0 whatever was said), and everybody computes the same shared secret. So are
numbers that are not reduced modulo the field's prime: one key has one text.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from pydantic import AfterValidator

from fedperm.errors import UntrustedError

_OCTETS = 32
_PRIME = 2**255 - 19
_SIGN = 1 << 255
"""The bit of an Ed25519 key that says which of two x belongs to its y."""

_Y_OF_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
_SMALL_Y = frozenset({0, 1, _PRIME - 1, _Y_OF_ORDER_8, _PRIME - _Y_OF_ORDER_8})
"""Of the eight points of Ed25519 whose order divides 8, whichever x they have."""
_SMALL_U = frozenset(
    {
        *(0, 1, _PRIME - 1),
        325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823,
    }
)
"""Of the points of Curve25519 and its twist whose order divides 8 (RFC 7748, section 6.1)."""


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


def _check_signing(text: str) -> str:
    y = int.from_bytes(from_text(_checked(text)), "little") & ~_SIGN
    if y >= _PRIME or y in _SMALL_Y:
        raise ValueError("an Ed25519 key for which anybody can sign, or not in its reduced form")
    return text


def _check_sealing(text: str) -> str:
    u = int.from_bytes(from_text(_checked(text)), "little")
    if u >= _PRIME or u in _SMALL_U:
        raise ValueError("an X25519 key to which nothing can be sealed, or not in its reduced form")
    return text


SecretText = Annotated[str, AfterValidator(_checked)]
"""32 octets that are nobody else's business: any will do."""
KeyText = Annotated[str, AfterValidator(_check_signing)]
"""An Ed25519 public key."""
SealingKeyText = Annotated[str, AfterValidator(_check_sealing)]
"""An X25519 public key."""


def text_of(key: Ed25519PublicKey | X25519PublicKey) -> KeyText:
    return to_text(key.public_bytes_raw())


def signing_key(text: KeyText) -> Ed25519PublicKey:
    """Checked again: a database may have kept it since nobody looked."""
    return Ed25519PublicKey.from_public_bytes(_octets(_check_signing, text))


def sealing_key(text: SealingKeyText) -> X25519PublicKey:
    return X25519PublicKey.from_public_bytes(_octets(_check_sealing, text))


def _octets(check: Callable[[str], str], text: str) -> bytes:
    try:
        return from_text(check(text))
    except ValueError as error:
        raise UntrustedError(f"this public key is {error}", "make a new key pair") from None


def fingerprint(text: KeyText) -> str:
    """SHA-256 of the octets, in hexadecimal: what people compare."""
    return hashlib.sha256(from_text(text)).hexdigest()
