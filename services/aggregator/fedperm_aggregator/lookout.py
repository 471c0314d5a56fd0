"""One look at a run for all who wait for it: they are many, and most changes (somebody else's
upload, say) concern none of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.changes import Changes
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.tasks import Progress, next_task

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""The lookout looks by itself this often, should it ever not be woken."""
AT_ONCE = 8
"""Clients that are told before the event loop gets to something else: it takes as long to answer
hundreds of them, but nobody else has to wait meanwhile."""


class Seat:
    """A client's place among those who wait. It has looked for itself and found nothing to do
    before it waits; then the bell rings with a task, or with none when it is to get up."""

    def __init__(self, client: str, settled: int) -> None:
        self.client = client
        self.settled = settled
        self.is_waiting = False
        self.task: Task | None = None
        self.bell = asyncio.Event()

    def ring(self, task: Task | None = None) -> None:
        self.task = task
        self.bell.set()


class Lookouts:
    """A run has one while anybody waits for it."""

    def __init__(self, stores: Stores, changes: Changes) -> None:
        self._stores = stores
        self._changes = changes
        self._posted: dict[str, Lookout] = {}

    @contextmanager
    def seated(self, run: str, seat: Seat) -> Iterator["Lookout"]:
        """Take a seat, then look, then wait: no move of the run is missed."""
        lookout = self._posted.get(run)
        if lookout is None:
            lookout = self._posted[run] = Lookout(self._stores, self._changes, run)
        lookout.seats.add(seat)
        try:
            yield lookout
        finally:
            lookout.seats.discard(seat)
            if not lookout.seats:
                del self._posted[run]
                lookout.leave()


class Lookout:
    def __init__(self, stores: Stores, changes: Changes, run: str) -> None:
        self._changes = changes
        self._run = run
        self._look = SharedLook(lambda: asyncio.to_thread(stores.rounds.progress, run))
        self.seats: set[Seat] = set()
        self._duty = asyncio.create_task(self._look_out())

    def leave(self) -> None:
        self._duty.cancel()

    async def task_of(self, seat: Seat) -> Task:
        """By a look that begins now or later."""
        task = _task(await self._look(), seat)
        seat.is_waiting = task.kind is TaskKind.WAIT
        return task

    async def _look_out(self) -> None:
        seen: Progress | None = None
        with self._changes.watch(self._run) as watch:
            while not self._changes.is_closing:
                # who sits down during the look has one of its own, and knows better by it
                waiting = [seat for seat in self.seats if seat.is_waiting]
                progress = await self._try_to_look()
                if progress is not None and progress != seen:
                    await self._tell(waiting, progress)
                    seen = progress
                await watch.wait(LOOK_SECONDS)
        for seat in self.seats:
            seat.ring()

    async def _try_to_look(self) -> Progress | None:
        """None if that fails: the next look may not."""
        try:
            return await self._look()
        except Exception:
            log.exception("cannot see where run %s is", self._run)
            return None

    async def _tell(self, waiting: list[Seat], progress: Progress) -> None:
        """Those who have something to do now, a few at a time."""
        told = 0
        for seat in waiting:
            task = _task(progress, seat)
            if task.kind is not TaskKind.WAIT:
                seat.ring(task)
                told += 1
                if told % AT_ONCE == 0:
                    await asyncio.sleep(0)


class SharedLook:
    """One look at a time. Whoever asks while one is under way shares the next: that one sees all
    that had happened when it was asked for."""

    def __init__(self, look: Callable[[], Awaitable[Progress]]) -> None:
        self._look = look
        self._present: asyncio.Task[Progress] | None = None
        self._next: asyncio.Task[Progress] | None = None

    async def __call__(self) -> Progress:
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._present))
        return await asyncio.shield(self._next)

    async def _after(self, former: "asyncio.Task[Progress] | None") -> Progress:
        if former is not None:
            await asyncio.wait([former])
        self._present, self._next = self._next, None
        return await self._look()


def _task(progress: Progress, seat: Seat) -> Task:
    return next_task(progress.seen_by(seat.client), seat.settled)
