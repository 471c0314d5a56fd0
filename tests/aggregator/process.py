"""The real thing: `python -m fedperm_aggregator`, real HTTP, real worker processes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience
from fedperm.services import AGGREGATOR
from fedperm.wire.aggregator import RoundState, TaskKind
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, ManualClock
from tests.proc import children_of, workers_of

PATIENCE_SECONDS = 120.0


class Process:
    """An aggregator on a free port; what `Bench` needs of one. `settings` beside the usual."""

    def __init__(self, folder: Path, clock: ManualClock, **settings: float) -> None:
        self._folder = folder
        self._settings = settings
        self.clock = clock
        (folder / "token").write_text(OPERATOR)
        self.start()

    def start(self) -> None:
        address = self._folder / "address"
        address.unlink(missing_ok=True)
        self._log = (self._folder / "log").open("ab")
        settings = {
            "port": 0,
            "address_file": address,
            "operator_token_file": self._folder / "token",
            "state_directory": self._folder / "state",
            "processes": 1,
            "insecure_for_tests": True,
            **self._settings,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", AGGREGATOR.module],
            env=os.environ | AGGREGATOR.environment(**settings),
            stderr=self._log,
        )
        end = time.monotonic() + PATIENCE_SECONDS
        while not address.exists():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)
        self.http = httpx.AsyncClient(base_url=address.read_text(), timeout=PATIENCE_SECONDS)
        self.api = AggregatorApi(Connection(self.http, Patience(PATIENCE_SECONDS)))

    async def end(self, how: signal.Signals) -> int:
        """How it ended."""
        self._process.send_signal(how)
        code = await asyncio.to_thread(self._process.wait, PATIENCE_SECONDS)
        await self.http.aclose()
        self._log.close()
        return code

    def is_running(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """To the aggregator itself, not to its workers."""
        self._process.send_signal(number)

    def workers(self) -> list[int]:
        return workers_of(self._process.pid)

    def children(self) -> list[int]:
        return children_of(self._process.pid)

    def log(self) -> str:
        return (self._folder / "log").read_text()


@asynccontextmanager
async def running(folder: Path, **settings: float) -> AsyncIterator[Process]:
    """Until the block ends."""
    process = Process(folder, ManualClock(time.time()), **settings)
    try:
        yield process
    finally:
        if process.is_running():
            await process.end(signal.SIGKILL)


async def until_open(bench: Bench, client: Client, settled: int) -> None:
    """By long poll, as a client would."""
    token = bench.server.token(client)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            task = await bench.api.next_task(bench.run, client.name, settled, 10.0, token)
            if task.kind == TaskKind.TRAIN:
                return


async def until_published(bench: Bench, number: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await bench.state(number) is not RoundState.PUBLISHED:
            await asyncio.sleep(0.02)
