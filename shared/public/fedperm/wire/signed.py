"""Signed statements: JWS in compact form (RFC 7515) with EdDSA over Ed25519, by PyJWT.

Each kind of statement has a `typ` of its own (RFC 8725, section 3.11), so that one can never be
taken for another although one key signs several kinds.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jwt import PyJWS
from jwt.exceptions import InvalidTokenError
from pydantic import ValidationError

from fedperm.errors import UntrustedError
from fedperm.wire.message import Message
from fedperm.wire.public_keys import from_text
from fedperm.wire.strict_json import parse_json

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
    """The statement, if this key signed it as this kind; an UntrustedError if not. The signature is
    checked before the members are looked at: whoever cannot sign has nothing taken apart."""
    header, payload = _parts(text, kind)
    try:
        _JWS.decode_complete(text, key, algorithms=["EdDSA"])
    except InvalidTokenError:
        raise _untrusted(kind, "not signed by the expected key") from None
    _check_header(header, kind)
    return _parse(payload, kind)


def verify_any(text: str, kind: type[Kind], keys: Sequence[Ed25519PublicKey]) -> Kind:
    """As `verify`, by whichever of these keys signed it."""
    *others, last = keys
    for key in others:
        try:
            return verify(text, kind, key)
        except UntrustedError:
            continue
    return verify(text, kind, last)


def unverified(text: str, kind: type[Kind]) -> Kind:
    """What the text claims: only to look up the key to verify it with."""
    header, payload = _parts(text, kind)
    _check_header(header, kind)
    return _parse(payload, kind)


def claimed_names(text: str, kind: type[Statement], *members: str) -> tuple[str, ...]:
    """Texts that it claims, and no more of it than these: to look up the key to verify it with,
    where anybody may ask."""
    header, payload = _parts(text, kind)
    _check_header(header, kind)
    claimed = _members(payload, kind)
    found = tuple(name for name in map(claimed.get, members) if isinstance(name, str))
    if len(found) < len(members):
        raise _untrusted(kind, f"without the names {', '.join(members)}")
    return found


def _parts(text: str, kind: type[Statement]) -> tuple[bytes, bytes]:
    """Header and payload. There is one way to write a statement: base64url without padding, and
    without stray bits at the end."""
    if len(text) > LONGEST:
        raise _untrusted(kind, f"longer than {LONGEST} characters")
    try:
        header, payload, _ = map(from_text, text.split("."))
    except ValueError:
        raise _untrusted(
            kind, "not a JWS in compact form: three texts in base64url without padding"
        ) from None
    return header, payload


def _check_header(header: bytes, kind: type[Statement]) -> None:
    if _members(header, kind) != {"alg": "EdDSA", "typ": kind.typ}:
        raise _untrusted(kind, "signed as something else")


def _members(octets: bytes, kind: type[Statement]) -> dict[str, Any]:
    try:
        members = parse_json(octets)
    except ValueError as error:
        raise _untrusted(kind, f"not readable: {error}") from None
    if not isinstance(members, dict):
        raise _untrusted(kind, "not readable: no JSON object")
    return members


def _parse(payload: bytes, kind: type[Kind]) -> Kind:
    _members(payload, kind)
    try:
        return kind.model_validate_json(payload)
    except ValidationError:
        raise _untrusted(kind, "signed, but not with the members it must have") from None


def _untrusted(kind: type[Statement], why: str) -> UntrustedError:
    return UntrustedError(f"this {kind.typ} is {why}", "get it again from the party that signs it")
