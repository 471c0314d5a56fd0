"""Dependencies of routes: the services, and who asks."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from fedperm.ids import RunName
from fedperm.web.connections import vouch_for
from fedperm.web.credentials import Bearer
from fedperm.wire.message import ClientField, RunField
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.services import Services

Judgement = TypeVar("Judgement")


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Here = Annotated[Services, Depends(_services)]


async def _judged(
    here: Here, request: Request, bearer: str, run: RunName, judge: Callable[[], Judgement]
) -> Judgement:
    """At once if the token is known here; else in a thread: it takes the database, and the check
    of a signature."""
    is_known = here.authorization.remembers(bearer, run)
    judgement = judge() if is_known else await asyncio.to_thread(judge)
    vouch_for(request)
    return judgement


async def the_operator(here: Here, request: Request, bearer: Bearer) -> None:
    """Where no run is known yet."""
    here.authorization.check_operator(bearer)
    vouch_for(request)


async def operator_of_run(here: Here, request: Request, bearer: Bearer, run: RunField) -> None:
    admit = here.authorization.admit_operator
    await _judged(here, request, bearer, run, lambda: admit(bearer, run))


async def reader_of_run(here: Here, request: Request, bearer: Bearer, run: RunField) -> None:
    """The operator or a participant."""
    admit = here.authorization.admit_reader
    await _judged(here, request, bearer, run, lambda: admit(bearer, run))


async def client_or_operator(
    here: Here, request: Request, bearer: Bearer, run: RunField, client: ClientField
) -> None:
    admit = here.authorization.admit_client_or_operator
    await _judged(here, request, bearer, run, lambda: admit(bearer, run, client))


async def that_client(
    here: Here, request: Request, bearer: Bearer, run: RunField, client: ClientField
) -> Participant:
    admit = here.authorization.admit_client
    return await _judged(here, request, bearer, run, lambda: admit(bearer, run, client))


ThatClient = Annotated[Participant, Depends(that_client)]
"""The client that the path names, and nobody else."""
