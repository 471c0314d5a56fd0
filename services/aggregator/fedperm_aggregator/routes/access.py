"""Dependencies of routes: the services, and who asks."""

from typing import Annotated

from fastapi import Depends, Request

from fedperm.web.credentials import Bearer
from fedperm.wire.message import Name
from fedperm_aggregator.gate import Participant
from fedperm_aggregator.services import Services


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Here = Annotated[Services, Depends(_services)]


# not `async`: checking a credential reads the database and verifies a signature, in a thread


def the_operator(here: Here, bearer: Bearer) -> None:
    """Where no run is known yet."""
    here.gate.check_operator(bearer)


def operator_of_run(here: Here, bearer: Bearer, run: Name) -> None:
    here.gate.admit_operator(bearer, run)


def reader_of_run(here: Here, bearer: Bearer, run: Name) -> None:
    """The operator or a participant."""
    here.gate.admit_reader(bearer, run)


def client_or_operator(here: Here, bearer: Bearer, run: Name, client: Name) -> None:
    here.gate.admit_client_or_operator(bearer, run, client)


def _client(here: Here, bearer: Bearer, run: Name, client: Name) -> Participant:
    return here.gate.admit_client(bearer, run, client)


ThatClient = Annotated[Participant, Depends(_client)]
"""The client that the path names, and nobody else."""
