"""Enrolment tokens as text: `fpt1.ID.SECRET.FINGERPRINT`.

The fingerprint of the key server's signing key lets a client notice whoever stands between.
"""

import hashlib
import re
from dataclasses import dataclass, field

from fedperm.errors import UnauthenticatedError
from fedperm.wire.public_keys import from_text, to_text

SECRET_OCTETS = 32
_PREFIX = "fpt1"
_FORM = re.compile(
    _PREFIX + r"\.([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.([A-Za-z0-9_-]{43})\.([0-9a-f]{64})"
)


@dataclass(frozen=True)
class EnrolmentToken:
    """What the operator hands to a client; shown without its secret."""

    id: str
    secret: bytes = field(repr=False)
    fingerprint: str

    @property
    def text(self) -> str:
        return f"{_PREFIX}.{self.id}.{to_text(self.secret)}.{self.fingerprint}"

    @property
    def secret_sha256(self) -> bytes:
        """All that a key server keeps of the secret."""
        return hashlib.sha256(self.secret).digest()


def parse_token(text: str) -> EnrolmentToken:
    """Refuses every text that is not a token's; the text is not repeated, it may hold a secret."""
    parts = _FORM.fullmatch(text)
    if parts is None:
        raise _no_token()
    try:
        return EnrolmentToken(parts[1], from_text(parts[2]), parts[3])
    except ValueError:
        raise _no_token() from None


def _no_token() -> UnauthenticatedError:
    return UnauthenticatedError(
        "this is not an enrolment token", "use the whole text that the operator got, fpt1 and all"
    )
