"""Who may pass: the key operator, a client with an access token for here, nobody too often."""

from typing import Any

from fastapi import Depends, Request

from fedperm.clock import Clock
from fedperm.services import KEY_SERVER
from fedperm.web.credentials import Bearer, OperatorCredential, TokenVerifier
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.statements import AccessToken
from fedperm_keyserver.authority import Authority

Guard = Any
"""What `Depends` answers; FastAPI gives its type no public name."""


def operator_only(credential: OperatorCredential) -> Guard:
    def check(presented: Bearer) -> None:
        credential.check(presented)

    return Depends(check)


def limited(limit: RateLimit) -> Guard:
    """Per address of the peer."""

    def take(request: Request) -> None:
        limit.take(request.client.host if request.client else "")

    return Depends(take)


def client_token(authority: Authority, clock: Clock) -> Guard:
    """An access token that this key server signed for itself."""

    def verify(presented: Bearer) -> AccessToken:
        verifier = TokenVerifier(authority.public_key, KEY_SERVER)
        return verifier.verify(presented, clock.now())

    return Depends(verify)
