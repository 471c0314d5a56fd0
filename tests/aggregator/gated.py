"""Workers that stand still in the middle of a job until a test lets them go on."""

from collections.abc import AsyncIterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import asynccontextmanager
from threading import Event
from typing import Any

from fedperm.workers import Workers
from tests.aggregator.bench import Aggregator
from tests.core.federation import InlineExecutor

PATIENCE_SECONDS = 30.0


class Gate(Executor):
    """Does the work in the thread that asks, but not before the gate is opened."""

    def __init__(self) -> None:
        self._asked = Event()
        self._open = Event()
        self._inside = InlineExecutor()
        self._is_broken = False
        self.jobs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.jobs += 1
        self._asked.set()
        assert self._open.wait(PATIENCE_SECONDS), "nobody opened the gate"
        if self._is_broken:
            raise BrokenExecutor
        return self._inside.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """As processes that are ended in the middle of it."""
        self._is_broken = True
        self._open.set()

    def wait_for_work(self) -> None:
        assert self._asked.wait(PATIENCE_SECONDS), "no job was started"

    def open(self) -> None:
        self._open.set()


@asynccontextmanager
async def gated(aggregator: Aggregator) -> AsyncIterator[Gate]:
    """This aggregator's workers from now on; they go on, and finish, when the block ends."""
    gate = Gate()
    free, aggregator.workers = aggregator.workers, Workers(gate, 1)
    aggregator.pool.replace(free)
    try:
        yield gate
    finally:
        gate.open()
        await aggregator.services.background.drain()
