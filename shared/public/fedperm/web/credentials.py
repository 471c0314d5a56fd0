"""Who asks: bearer tokens of operators, and of clients by the key server's signature."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from fedperm.errors import ForbiddenError, SettingsError, UnauthenticatedError, UntrustedError
from fedperm.services import ServiceSpec
from fedperm.wire.signed import verify
from fedperm.wire.statements import AccessToken

_SHORTEST_SECRET = 16
_bearer = HTTPBearer(auto_error=False, description="An operator's token or a client's access token")


async def presented(
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> str:
    if given is None:
        raise UnauthenticatedError(
            "there is no bearer token", "send the header Authorization: Bearer <token>"
        )
    return given.credentials


Bearer = Annotated[str, Depends(presented)]
"""The token of a request; a request without one is refused."""


@dataclass(frozen=True)
class OperatorCredential:
    """A secret that one kind of operator holds; compared in constant time, never shown."""

    sha256: bytes

    @classmethod
    def of(cls, secret: str) -> "OperatorCredential":
        if len(secret) < _SHORTEST_SECRET:
            raise SettingsError(
                f"an operator's token of {len(secret)} characters",
                f"use at least {_SHORTEST_SECRET} random ones",
            )
        return cls(hashlib.sha256(secret.encode()).digest())

    def matches(self, presented: str) -> bool:
        digest = hashlib.sha256(presented.encode()).digest()
        return hmac.compare_digest(digest, self.sha256)

    def check(self, presented: str) -> None:
        if not self.matches(presented):
            raise UnauthenticatedError(
                "this is not the operator's token", "use the token of this service's operator"
            )

    def __repr__(self) -> str:
        return "<OperatorCredential>"


@dataclass(frozen=True)
class TokenVerifier:
    """Checks access tokens of one key server for one service."""

    signing_key: Ed25519PublicKey
    service: ServiceSpec

    def verify(self, presented: str, now: float) -> AccessToken:
        try:
            token = verify(presented, AccessToken, self.signing_key)
        except UntrustedError:
            raise UnauthenticatedError(
                "this access token is not from the run's key server",
                "get an access token from the key server that enrolled you",
            ) from None
        token.check_time(now)
        if (token.aud, token.scope) != (self.service.audience, self.service.scope):
            raise ForbiddenError(
                f"this access token is for {token.aud}", f"ask for one for {self.service.audience}"
            )
        return token
