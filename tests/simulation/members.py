"""Clients as parties: real participants with their state directories."""

from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import httpx

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import FedPermError
from fedperm_client.environment import environment
from fedperm_client.participant import Participant
from fedperm_client.peers import Peers
from fedperm_client.session import Session
from fedperm_client.settings import ClientSettings
from fedperm_client.state_directory import StateDirectory
from fedperm_client.taking_part import TakingPart
from tests.aggregator.parties import ManualClock
from tests.simulation import unit_task
from tests.simulation.lines import Line, Server
from tests.simulation.lives import Killed, Party, acting
from tests.simulation.tally import Tally

NO_PATIENCE = Patience(0.0)


class Member(Party):
    """`is_gone` by its own choice; `is_out` for good: it was revoked, turned rogue, or lost its
    state and lives on under another name."""

    def __init__(
        self,
        name: str,
        home: Path,
        clock: ManualClock,
        tally: Tally,
        servers: tuple[Server, Server],
        **settings: Any,
    ) -> None:
        super().__init__(name, home, clock, tally)
        self.to_key_server, self.to_aggregator = (Line(self, one, tally) for one in servers)
        self.is_gone = False
        self.is_out = False
        self.participant: Participant | None = None
        self.has_ledger = "max_epsilon" in settings
        self._settings = settings
        self._starts = 0
        self._known = (0, 0)
        self._process = ExitStack()

    @property
    def state(self) -> StateDirectory:
        return StateDirectory(self.folder / "state")

    @property
    def lines(self) -> tuple[Line, Line]:
        return self.to_key_server, self.to_aggregator

    @property
    def session(self) -> Session | None:
        """Its access to both servers, once it takes part."""
        stage = self.participant.stage if self.participant is not None else None
        return stage.run.session if isinstance(stage, TakingPart) else None

    @property
    def is_finished(self) -> bool:
        return self.participant is not None and self.participant.is_finished

    def is_known(self, path: Path) -> bool:
        """Whether the file is the one that was asked for before."""
        status = path.stat()
        before, self._known = self._known, (status.st_ino, status.st_mtime_ns)
        return before == self._known

    def start(self) -> None:
        self._starts += 1
        with acting(self.born()):
            try:
                self.participant = self._participant()
            except (Killed, OSError):
                self.end()

    async def step(self) -> FedPermError | None:
        """One step; the error that it met. What is no error of ours ends the process."""
        if self.participant is None or self.life is None:
            return None
        self.tally.steps += 1
        for line in self.lines:
            line.failed = False
        with acting(self.life):
            try:
                await self.participant.step()
            except FedPermError as error:
                return error
            except (Killed, OSError):
                self.end()
        return None

    def end(self) -> None:
        super().end()
        self.participant = None
        self._process.close()

    def _participant(self) -> Participant:
        settings = ClientSettings(
            keyserver_url="http://key-server",
            aggregator_url="http://aggregator",
            run="demo",
            key="main",
            state_directory=self.folder / "state",
            task=f"{unit_task.__file__}:Unit",
            min_key_bits=512,
            min_contributors=2,
            accept_no_record_guarantee=True,
            insecure_for_tests=True,
            **self._settings,
        )
        peers = Peers(
            KeyServerApi(connection(self.to_key_server)),
            AggregatorApi(connection(self.to_aggregator)),
        )
        randomness = Random(f"{self.name} {self._starts}")
        given = environment(settings, peers, self.clock, randomness, poll_seconds=0.0)
        return Participant(self._process.enter_context(given), NO_PATIENCE)


def connection(line: Line) -> Connection:
    http = httpx.AsyncClient(transport=line, base_url="http://server")
    return Connection(http, NO_PATIENCE)
