"""Long polls: a client waits for its next task, for a while and without holding a thread.

One look at a run serves all who wait for it: they are many, and most changes (somebody else's
upload, say) concern none of them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from fedperm.clock import Clock
from fedperm.errors import BusyError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.run_notifier import RunNotifier
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.records import Progress
from fedperm_aggregator.rounds.tasks import next_task
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""The lookout looks by itself this often, should it ever not be woken."""
AT_ONCE = 4
"""Clients that are told before the event loop gets to something else: it takes as long to answer
hundreds of them, but nobody else has to wait meanwhile."""

LONG_TURN_SECONDS = 0.005
BREATHER_SECONDS = 0.05
"""Whoever is told of a new round comes back with several requests. When the loop is busy with those
of the clients told before, the next hear of it a little later: they would only wait in line."""


class Seat:
    """A client's place among those who wait. It has looked for itself and found nothing to do
    before it waits; then the bell rings with a task, or with none when it is to get up."""

    def __init__(self, client: ClientName, settled: RoundNumber) -> None:
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

    def __init__(self, stores: Stores, documents: RunDocuments, notifier: RunNotifier) -> None:
        self._stores = stores
        self._documents = documents
        self._notifier = notifier
        self._posted: dict[RunName, Lookout] = {}

    @contextmanager
    def seated(self, run: RunName, seat: Seat) -> Iterator["Lookout"]:
        """Take a seat, then look, then wait: no move of the run is missed."""
        lookout = self._posted.get(run)
        if lookout is None:
            lookout = self._posted[run] = Lookout(
                self._stores, self._documents, self._notifier, run
            )
        lookout.seats.add(seat)
        try:
            yield lookout
        finally:
            lookout.seats.discard(seat)
            if not lookout.seats:
                del self._posted[run]
                lookout.leave()


class Lookout:
    def __init__(
        self, stores: Stores, documents: RunDocuments, notifier: RunNotifier, run: RunName
    ) -> None:
        self._notifier = notifier
        self._run = run

        def look() -> Progress:
            progress = stores.rounds.progress(run)
            if not progress.phase:
                return progress
            return replace(progress, task=documents.phases(run).named(progress.phase).task)

        self._look = SharedLook(lambda: asyncio.to_thread(look))
        self.seats: set[Seat] = set()
        self._duty = asyncio.create_task(self._look_out())

    def leave(self) -> None:
        self._duty.cancel()

    async def task_of(self, seat: Seat) -> Task:
        """By a look that begins now or later. From then on the lookout tells it of what is new."""
        await self._look()
        task = next_task(self._look.newest, seat.client, seat.settled)
        seat.is_waiting = task.kind == TaskKind.WAIT
        return task

    async def _look_out(self) -> None:
        seen: Progress | None = None
        with self._notifier.watch(self._run) as watch:
            while not self._notifier.is_closing:
                if await self._try_to_look() and self._look.newest != seen:
                    seen = self._look.newest
                    await self._tell(seen)
                await watch.wait(LOOK_SECONDS)
        for seat in self.seats:
            seat.ring()

    async def _try_to_look(self) -> bool:
        """Whether it went well: the next look may."""
        try:
            await self._look()
        except Exception:
            log.exception("cannot see where run %s is", self._run)
            return False
        return True

    async def _tell(self, progress: Progress) -> None:
        """Those who have something to do now, a few at a time. Whoever sits down meanwhile looks
        for itself, and knows better by it."""
        tasks = [
            (seat, next_task(progress, seat.client, seat.settled))
            for seat in self.seats
            if seat.is_waiting
        ]
        called = [(seat, task) for seat, task in tasks if task.kind != TaskKind.WAIT]
        for number, (seat, task) in enumerate(called, 1):
            seat.ring(task)
            if number % AT_ONCE == 0:
                await _breathe()


class SharedLook:
    """One look at a time. Whoever asks while one is under way shares the next: that one sees all
    that had happened when it was asked for."""

    def __init__(self, look: Callable[[], Awaitable[Progress]]) -> None:
        self._look = look
        self._waiting: list[asyncio.Future[None]] = []
        self._looking: asyncio.Task[None] | None = None
        self.newest: Progress
        """Of the last look that went well."""

    async def __call__(self) -> None:
        """Until there was a look that began after this was asked; its failure is raised."""
        seen = asyncio.get_running_loop().create_future()
        self._waiting.append(seen)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_for_all())
        await seen

    async def _look_for_all(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            failure = await self._try()
            for number, seen in enumerate(waiting, 1):
                if not seen.done():  # it may have left
                    seen.set_exception(failure) if failure else seen.set_result(None)
                if number % AT_ONCE == 0:
                    await asyncio.sleep(0)
        self._looking = None

    async def _try(self) -> Exception | None:
        try:
            self.newest = await self._look()
        except Exception as error:
            return error
        return None


async def _breathe() -> None:
    """A turn of the loop for others, and a pause if that was a long one."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    await asyncio.sleep(0)
    if loop.time() - start > LONG_TURN_SECONDS:
        await asyncio.sleep(BREATHER_SECONDS)


PULSE_SECONDS = 5.0
"""Whoever waits is online, and this often found to be still there; no database is asked for it."""


@dataclass(frozen=True)
class Poll:
    """`is_gone` tells whether the client has hung up."""

    run: RunName
    settled: RoundNumber
    wait_seconds: float
    is_gone: Callable[[], Awaitable[bool]]


class LongPolls:
    """A client holds one poll: a newer one ends the older, whose connection may be long dead."""

    def __init__(
        self,
        lookouts: Lookouts,
        participants: Participants,
        presence: Presence,
        notifier: RunNotifier,
        clock: Clock,
        *,
        longest_wait_seconds: float,
        most_waiting: int,
    ) -> None:
        self._participants = participants
        self._presence = presence
        self._notifier = notifier
        self._clock = clock
        self._lookouts = lookouts
        self._longest_wait_seconds = longest_wait_seconds
        self._most_waiting = most_waiting
        self._held: dict[tuple[RunName, ClientName], Seat] = {}

    async def next_task(self, poll: Poll, who: Participant) -> Task:
        """As soon as there is something to do; else WAIT when the time is up."""
        await self._participants.admitted(poll.run, who)
        seat = Seat(who.client, poll.settled)
        with self._lookouts.seated(poll.run, seat) as lookout, self._held_by(poll.run, seat):
            task = await lookout.task_of(seat)
            self._hear(poll, seat)
            if task.kind == TaskKind.WAIT:
                await self._wait(poll, seat)
                task = seat.task or task
            return task

    async def _wait(self, poll: Poll, seat: Seat) -> None:
        """Until the bell rings, or the time is up."""
        loop = asyncio.get_running_loop()
        end = loop.time() + min(poll.wait_seconds, self._longest_wait_seconds)
        while (left := end - loop.time()) > 0 and await self._is_wanted(poll, seat):
            self._hear(poll, seat)
            with suppress(TimeoutError):
                await asyncio.wait_for(seat.bell.wait(), min(left, PULSE_SECONDS))

    async def _is_wanted(self, poll: Poll, seat: Seat) -> bool:
        """Nothing to tell it yet, and the client has not hung up."""
        if self._notifier.is_closing or seat.bell.is_set():
            return False
        return not await poll.is_gone()

    def _hear(self, poll: Poll, seat: Seat) -> None:
        self._presence.heard(poll.run, seat.client, self._clock.now())

    @contextmanager
    def _held_by(self, run: RunName, seat: Seat) -> Iterator[None]:
        """A newer poll of the client makes an older one get up."""
        key = (run, seat.client)
        older = self._held.get(key)
        if older is None and len(self._held) >= self._most_waiting:
            raise BusyError(f"{len(self._held)} clients are waiting already", "ask again soon")
        self._held[key] = seat
        if older is not None:
            older.ring()
        try:
            yield
        finally:
            if self._held.get(key) is seat:
                del self._held[key]
