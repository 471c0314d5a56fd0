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
from tests.crash_points.nursery import PATIENCE_SECONDS, Child, Nursery
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
        program: str,
        folder: Path,
        environment: dict[str, str],
        tally: Tally,
        *,
        retried: bool,
    ) -> None:
        self._nursery = nursery
        self._program = program
        self._address = folder / "address"
        prefix = f"{program.upper()}_"
        self._port = prefix + "PORT"
        self._environment = {
            self._port: "0",
            prefix + "ADDRESS_FILE": str(self._address),
            prefix + "STATE_DIRECTORY": str(folder / "state"),
            prefix + "INSECURE_FOR_TESTS": "true",
            **{prefix + name.upper(): value for name, value in environment.items()},
        }
        self._tally = tally
        self.retried = retried
        self.folder = folder
        self.trap = Trap(folder / "trap")
        self.http: httpx.AsyncClient = http_client("http://nowhere")
        self.child: Child | None = None

    async def start(self) -> None:
        """Until it listens, or has died of its trap already. Where the first one listened the
        others do."""
        self._address.unlink(missing_ok=True)
        self.child = self._nursery.bear(self._program, self.folder, self._environment)

        async def is_there() -> bool:
            return self._address.exists() or self.has_ended

        await until(is_there, f"{self._program} has started")
        if self._environment[self._port] == "0" and self._address.exists():
            self.http.base_url = httpx.URL(self._address.read_text())
            self._environment[self._port] = str(self.http.base_url.port)

    @property
    def connection(self) -> Connection:
        """Impatient: a request that is not answered is not repeated."""
        return Connection(self.http, Patience(0.0))

    @property
    def has_ended(self) -> bool:
        assert self.child is not None
        return self.child.poll() is not None

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

        await until(is_over, f"{self._program} has died of {moment}")
        assert self.child is not None
        assert self.child.wait() == -signal.SIGKILL, self.child.last_words
        assert not self.trap.is_set
        self._tally.cases.add(Case(moment, self.retried))

    async def close(self) -> None:
        await self.http.aclose()
        if self.child is not None:
            self.child.send(signal.SIGKILL)
            self.child.wait()
