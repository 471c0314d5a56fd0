"""SHA-256 of a body, as the header `Content-Digest` (RFC 9530) states it and as text."""

import base64
import hashlib
import re

from fedperm.errors import InvalidRequestError

CONTENT_DIGEST = "Content-Digest"
_FORM = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")


def sha256_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def content_digest(sha256: str) -> str:
    """The header's value for a digest in hexadecimal."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"


def parse_content_digest(header: str | None) -> str:
    """The digest in hexadecimal; only SHA-256 is taken."""
    match = _FORM.fullmatch(header or "")
    if match is None:
        raise InvalidRequestError(
            f"the header {CONTENT_DIGEST} is missing or not of the form sha-256=:base64:",
            "send the SHA-256 of the body in it (RFC 9530)",
        )
    return base64.b64decode(match[1]).hex()
