"""A server that is killed at named moments and started again on what it left."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import httpx

from fedperm.api.connection import Connection, Patience, http_client
from fedperm.errors import UnreachableError
from fedperm.services import ServiceSpec
from fedperm_cli.federation.processes import Processes, RunningServer
from tests.crash_points.nursery import PATIENCE_SECONDS, Nursery
from tests.crash_points.tally import Case, Tally
from tests.crash_points.trap import Trap

Answer = TypeVar("Answer")
Ask = Callable[[], Awaitable[Answer]]

_PAUSE_SECONDS = 0.02


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not await holds():
        assert time.monotonic() < end, f"waited in vain until {what}"
        await asyncio.sleep(_PAUSE_SECONDS)


class MortalServer:
    """`retried`: whoever got no answer from a process that died asks the next one again."""

    def __init__(
        self,
        nursery: Nursery,
        service: ServiceSpec,
        folder: Path,
        tally: Tally,
        *,
        retried: bool,
        **settings: object,
    ) -> None:
        self._service = service
        self._processes = Processes(folder, nursery.spawn)
        self._tally = tally
        self.retried = retried
        self.state = folder / "state"
        self.trap = Trap(folder / "trap")
        self.http: httpx.AsyncClient = http_client("http://nowhere")
        self._environment = service.environment(
            state_directory=self.state, insecure_for_tests=True, **settings
        )
        self._started: RunningServer | None = None

    @property
    def process(self) -> RunningServer:
        assert self._started is not None
        return self._started

    async def start(self) -> None:
        """Until it listens, or has died of its trap already. Where the first one listened the
        others do."""
        if self._started is None:
            self._started = self._processes.start_server(self._service, self._environment)
        else:
            self._started.restart()

        async def is_there() -> bool:
            return self.process.listens or self.has_ended

        await until(is_there, f"the {self._service.title} has started")
        if self.process.listens:
            self.http.base_url = httpx.URL(self.process.address)

    @property
    def connection(self) -> Connection:
        """Impatient: a request that is not answered is not repeated."""
        return Connection(self.http, Patience(0.0))

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    async def start_mortally(self, moments: Sequence[str]) -> None:
        """Killed while it starts, once at each of these, then started for good."""
        for moment in moments:
            self.trap.set(moment)
            await self.start()
            await self.died_of(moment)
        await self.start()

    async def attempt(self, ask: Ask[Answer]) -> Answer | None:
        """The answer, or None if the process died before."""
        with suppress(UnreachableError):
            return await ask()
        return None

    async def die_of(self, moment: str, ask: Ask[Answer]) -> Answer | None:
        """Killed at this moment, which the request leads to, and started again. The answer, if
        there was one, or in the end."""
        self.trap.set(moment)
        answer = await self.attempt(ask)
        await self.died_of(moment)
        await self.start()
        if answer is None and self.retried:
            answer = await ask()
        return answer

    async def died_of(self, moment: str) -> None:
        """Waits for the end, which must be this one."""

        async def is_over() -> bool:
            return self.has_ended

        await until(is_over, f"the {self._service.title} has died of {moment}")
        assert self.process.poll() == -signal.SIGKILL, self.process.failure("was not killed")
        assert not self.trap.is_set
        self._tally.cases.add(Case(moment, self.retried))

    async def close(self) -> None:
        await self.http.aclose()
        if self._started is not None:
            self._started.kill()
        self._processes.stop()
