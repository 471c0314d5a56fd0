"""Work that is given up as soon as a process it depends on ends badly."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from fedperm_cli.federation.processes import RunningProcess, RunningServer

Result = TypeVar("Result")

_PAUSE_SECONDS = 0.2


class Guard:
    """Servers must not end at all, clients only well."""

    def __init__(self, servers: Sequence[RunningServer], clients: Sequence[RunningProcess]) -> None:
        self._servers = servers
        self._clients = clients

    async def during(self, work: Coroutine[Any, Any, Result]) -> Result:
        working, looking = asyncio.create_task(work), asyncio.create_task(self._look())
        try:
            await asyncio.wait({working, looking}, return_when=asyncio.FIRST_COMPLETED)
            if looking.done():
                await looking
            return await working
        finally:
            working.cancel()
            looking.cancel()
            await asyncio.gather(working, looking, return_exceptions=True)

    async def clients_end(self, seconds: float) -> None:
        """By themselves, after the last round."""
        deadline = time.monotonic() + seconds
        while late := [client for client in self._clients if client.poll() is None]:
            if time.monotonic() > deadline:
                raise late[0].failure(f"has not ended {seconds:g} s after the run")
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _look(self) -> None:
        """Until something is wrong."""
        while True:
            for server in self._servers:
                server.check()
            for client in self._clients:
                if client.poll() not in {None, 0}:
                    client.check()
            await asyncio.sleep(_PAUSE_SECONDS)
