"""Signed statements: JWS in compact form (RFC 7515) with EdDSA over Ed25519, by PyJWT.

Each kind of statement has a `typ` of its own (RFC 8725, section 3.11), so that one can never be
taken for another although one key signs several kinds.
"""

from typing import ClassVar, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jwt import PyJWS
from jwt.exceptions import InvalidTokenError
from pydantic import ValidationError

from fedperm.errors import UntrustedError
from fedperm.wire.message import Message

_JWS = PyJWS(algorithms=["EdDSA"])
LONGEST = 16384
"""Characters of any statement: a sealed key of 4096 bits has about 4,000."""

Kind = TypeVar("Kind", bound="Statement")


class Statement(Message):
    """What is signed; subclasses name their kind."""

    typ: ClassVar[str]


def sign(statement: Statement, key: Ed25519PrivateKey) -> str:
    """Deterministic: the same statement and key give the same text."""
    payload = statement.model_dump_json(exclude_none=True).encode()
    return _JWS.encode(payload, key, algorithm="EdDSA", headers={"typ": statement.typ})


def verify(text: str, kind: type[Kind], key: Ed25519PublicKey) -> Kind:
    """The statement, if this key signed it as this kind; an UntrustedError if not."""
    _check_form(text, kind)
    try:
        signed = _JWS.decode_complete(text, key, algorithms=["EdDSA"])
    except InvalidTokenError:
        raise _untrusted(kind, "not signed by the expected key") from None
    if signed["header"] != {"alg": "EdDSA", "typ": kind.typ}:
        raise _untrusted(kind, "signed as something else")
    return _parse(signed["payload"], kind)


def unverified(text: str, kind: type[Kind]) -> Kind:
    """What the text claims: only to look up the key to verify it with."""
    _check_form(text, kind)
    try:
        claimed = _JWS.decode_complete(text, options={"verify_signature": False})
    except InvalidTokenError:
        raise _untrusted(kind, "not a signed statement") from None
    return _parse(claimed["payload"], kind)


def _check_form(text: str, kind: type[Statement]) -> None:
    """Base64url and dots are ASCII; PyJWT would stumble over a lone surrogate."""
    if len(text) > LONGEST:
        raise _untrusted(kind, f"longer than {LONGEST} characters")
    if not text.isascii():
        raise _untrusted(kind, "not a signed statement")


def _parse(payload: bytes, kind: type[Kind]) -> Kind:
    try:
        return kind.model_validate_json(payload)
    except ValidationError:
        raise _untrusted(kind, "signed, but not with the members it must have") from None


def _untrusted(kind: type[Statement], why: str) -> UntrustedError:
    return UntrustedError(f"this {kind.typ} is {why}", "get it again from the party that signs it")
