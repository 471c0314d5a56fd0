"""The two servers as parties: real applications, files and databases; time and workers by hand."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from fedperm.errors import FedPermError
from fedperm.workers import Workers
from fedperm_aggregator.stores import Stores, open_stores
from tests.aggregator import bench
from tests.aggregator.parties import ManualClock
from tests.core.federation import IN_THIS_PROCESS, InlineExecutor
from tests.keyserver import server
from tests.simulation.disks import Disks
from tests.simulation.lines import Server, Witness
from tests.simulation.lives import Killed, acting, watch
from tests.simulation.one_thread import at_once
from tests.simulation.tally import Tally


class _Hands(InlineExecutor):
    """Worker processes. While one is at work the aggregator may end, or lose the job."""

    def __init__(self, aggregator: "Aggregator") -> None:
        self._aggregator = aggregator

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        watch("worker.working")
        self._aggregator.meet_rival()
        return super().submit(fn, *args, **kwargs)


class _Restarting(Server):
    engine: Engine
    is_locked = False

    def __init__(
        self,
        name: str,
        home: Path,
        clock: ManualClock,
        tally: Tally,
        disks: Disks,
        witness: Witness,
    ) -> None:
        super().__init__(name, home, clock, tally)
        self.disks = disks
        self.witness = witness

    @property
    def is_short(self) -> bool:
        return self.disks.is_felt_by(self.name)

    def start(self) -> None:
        """It may end while it starts."""
        if hasattr(self, "engine"):
            self.engine.dispose()  # of a former process
        with acting(self.born()):
            try:
                self._start()
            except Killed:
                return
            except (OSError, FedPermError):
                if not self.is_short:
                    raise
                self.end()

    def _start(self) -> None:
        raise NotImplementedError


class KeyServer(_Restarting):
    process: server.Server

    async def a_while(self) -> None:
        """Nothing happens here that nobody asks for."""

    def _start(self) -> None:
        self.process = server.Server(self.folder, self.clock)
        self.app, self.engine = self.process.app, self.process.database.engine
        self.disks.attach(self.engine)


class Aggregator(_Restarting):
    """`rival` is after how many pieces of work one appears; `pass_time` is everybody's time."""

    process: bench.Aggregator
    starts = 0
    rival: int | None = None
    pass_time: Callable[[float], None]

    async def a_while(self) -> None:
        self.pass_time(61.0)
        await self.tick()

    @property
    def stores(self) -> Stores:
        return open_stores(self.process.database)

    async def tick(self) -> None:
        """Everything that is due, and what becomes due by it; it may end in the middle."""
        if self.life is None:
            return
        self.tally.ticks += 1
        background = self.process.services.background
        with acting(self.life):
            try:
                for _ in range(2):
                    await background.tick()
            except Killed:
                return
            except (OSError, FedPermError):  # the service's own loop logs it and goes on
                if not (self.is_short or self.is_locked):
                    raise

    def stop(self) -> None:
        """By SIGTERM: it has a last word."""
        with acting(self.life):
            try:
                self.process.close()
            except Killed:
                return
        self.end()

    def meet_rival(self) -> None:
        """The work takes longer than its lease, and another process does it meanwhile: as if
        nothing forbade two of them."""
        if self.rival is not None:
            self.rival -= 1
        if self.rival == 0:
            self.rival = None
            self.tally.faults["rival"] += 1
            with acting(None):
                self.pass_time(2 * self.process.settings.lease_seconds)
                other = self.process.sibling(IN_THIS_PROCESS)
                at_once(other.services.background.tick())
                other.close()

    def _start(self) -> None:
        self.starts += 1
        workers = Workers(_Hands(self), 2)
        self.process = bench.Aggregator(self.folder, self.clock, workers, seed=self.starts)
        self.app, self.engine = self.process.app, self.process.database.engine
        self.disks.attach(self.engine)
        self.process.services.background.start()
