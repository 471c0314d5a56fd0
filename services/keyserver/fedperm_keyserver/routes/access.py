"""Dependencies of routes: the services, who asks, and how often."""

from typing import Annotated

from fastapi import Depends, Request

from fedperm.services import KEY_SERVER
from fedperm.web.credentials import Bearer, TokenVerifier
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.statements import AccessToken
from fedperm_keyserver.services import Services


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Here = Annotated[Services, Depends(_services)]


async def the_operator(here: Here, bearer: Bearer) -> None:
    here.operator.check(bearer)


async def limited_enrolment(here: Here, request: Request) -> None:
    _take(here.enrolment_limit, request)


async def limited_access(here: Here, request: Request) -> None:
    _take(here.access_limit, request)


def _take(limit: RateLimit, request: Request) -> None:
    """Per address of the peer."""
    limit.take(request.client.host if request.client else "")


def _client(here: Here, bearer: Bearer) -> AccessToken:
    """Not async: checking a signature takes a while."""
    verifier = TokenVerifier(here.authority.public_key, KEY_SERVER)
    return verifier.verify(bearer, here.clock.now())


AClient = Annotated[AccessToken, Depends(_client)]
"""A client with an access token that this key server signed for itself."""
