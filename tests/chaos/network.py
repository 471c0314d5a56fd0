"""All links of a federation, each through a proxy of its own, in a thread beside the test."""

import asyncio
from contextlib import suppress
from threading import Thread
from typing import Self
from urllib.parse import urlsplit

from tests.chaos.fault_proxy import FaultProxy, Witness
from tests.chaos.faults import Plan

PATIENCE_SECONDS = 30.0


class Network:
    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._thread = Thread(target=self._loop.run_forever, name="network", daemon=True)

    def link(self, address: str, plan: Plan) -> str:
        """The address by which the server is reached through a new proxy."""
        proxy = FaultProxy(urlsplit(address).port or 80, plan, self._witness)
        serving = asyncio.start_server(proxy, "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(serving, self._loop).result(PATIENCE_SECONDS)
        self._servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
