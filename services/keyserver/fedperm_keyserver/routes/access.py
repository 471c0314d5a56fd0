"""Dependencies of routes: the services, who asks, and how often."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, Query, Request

from fedperm.services import KEY_SERVER
from fedperm.web.connections import vouch_for
from fedperm.web.credentials import Bearer, TokenVerifier
from fedperm.web.json_body import members_of, understood
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.key_server import AccessTokenRequest
from fedperm.wire.statements import AccessToken
from fedperm_keyserver.access import Proven
from fedperm_keyserver.origin import CLIENT, KEY_OPERATOR, NEWCOMER, Origin, asked_by
from fedperm_keyserver.services import Services


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Here = Annotated[Services, Depends(_services)]
EntryNumber = Annotated[int, Query(ge=0, lt=1 << 31)]
"""Of the audit log."""


def address_of(request: Request) -> str | None:
    """Of the peer: what limits count by, and what the audit log says."""
    return request.client.host if request.client else None


async def the_operator(here: Here, bearer: Bearer, request: Request) -> AsyncIterator[None]:
    here.operator.check(bearer)
    vouch_for(request)
    with asked_by(Origin(KEY_OPERATOR, address_of(request))):
        yield


async def limited_enrolment(here: Here, request: Request) -> AsyncIterator[None]:
    _take(here.enrolment_limit, request)
    with asked_by(Origin(NEWCOMER, address_of(request))):
        yield


async def limited_access(here: Here, request: Request) -> None:
    _take(here.access_limit, request)


def _take(limit: RateLimit, request: Request) -> None:
    limit.take(address_of(request) or "")


async def _members(request: Request, _limited: Annotated[None, Depends(limited_access)]) -> Any:
    return await members_of(request)


def _proven(here: Here, members: Annotated[Any, Depends(_members)]) -> Proven:
    """By the signature of the assertion, which anybody may send: nothing else of the body is looked
    at before."""
    assertion = members.get("assertion") if isinstance(members, dict) else None
    if isinstance(assertion, str):
        return here.access.prove(assertion)
    return here.access.prove(understood(members, AccessTokenRequest).assertion)


async def signer(
    here: Here, proven: Annotated[Proven, Depends(_proven)], request: Request
) -> Proven:
    """Asked on the event loop, as all that counts strangers: their number has no lock."""
    vouch_for(request)
    here.grant_limit.take(proven.caller)
    return proven


ASigner = Annotated[Proven, Depends(signer)]
"""A client that has signed an assertion just now."""


def _verified(here: Here, bearer: Bearer) -> AccessToken:
    """Not async: checking a signature takes a while."""
    verifier = TokenVerifier(here.authority.public_key_for(bearer), KEY_SERVER)
    return verifier.verify(bearer, here.clock.now())


async def _client(
    here: Here, token: Annotated[AccessToken, Depends(_verified)], request: Request
) -> AsyncIterator[AccessToken]:
    vouch_for(request)
    here.call_limit.take(_caller(token))
    with asked_by(Origin(CLIENT, address_of(request))):
        yield token


AClient = Annotated[AccessToken, Depends(_client)]
"""A client with an access token that this key server signed for itself."""


async def _receiver(here: Here, token: AClient) -> AccessToken:
    here.release_limit.take(_caller(token))
    return token


AReceiver = Annotated[AccessToken, Depends(_receiver)]
"""Such a client, if it was not given many keys before."""


def _caller(token: AccessToken) -> str:
    return f"{token.key}/{token.sub}"
