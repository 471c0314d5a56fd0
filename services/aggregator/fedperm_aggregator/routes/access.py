"""Dependencies of routes: the services, and who asks."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from fedperm.ids import RunName
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
    here: Here, bearer: str, run: RunName, judge: Callable[[], Judgement]
) -> Judgement:
    """At once if the token is known here; else in a thread: it takes the database, and the check
    of a signature."""
    return judge() if here.authorization.remembers(bearer, run) else await asyncio.to_thread(judge)


async def the_operator(here: Here, bearer: Bearer) -> None:
    """Where no run is known yet."""
    here.authorization.check_operator(bearer)


async def operator_of_run(here: Here, bearer: Bearer, run: RunField) -> None:
    await _judged(here, bearer, run, lambda: here.authorization.admit_operator(bearer, run))


async def reader_of_run(here: Here, bearer: Bearer, run: RunField) -> None:
    """The operator or a participant."""
    await _judged(here, bearer, run, lambda: here.authorization.admit_reader(bearer, run))


async def client_or_operator(
    here: Here, bearer: Bearer, run: RunField, client: ClientField
) -> None:
    await _judged(
        here, bearer, run, lambda: here.authorization.admit_client_or_operator(bearer, run, client)
    )


async def _client(here: Here, bearer: Bearer, run: RunField, client: ClientField) -> Participant:
    return await _judged(
        here, bearer, run, lambda: here.authorization.admit_client(bearer, run, client)
    )


ThatClient = Annotated[Participant, Depends(_client)]
"""The client that the path names, and nobody else."""
