"""Long polls: a client waits for its next task, for a while and without holding a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import BusyError
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.changes import Changes
from fedperm_aggregator.gate import Participant
from fedperm_aggregator.lookout import Lookouts, Seat
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.stores import Stores

PULSE_SECONDS = 5.0
"""Whoever waits is online, and this often found to be still there; no database is asked for it."""


@dataclass(frozen=True)
class Poll:
    """`is_gone` tells whether the client has hung up."""

    run: str
    settled: int
    wait_seconds: float
    is_gone: Callable[[], Awaitable[bool]]


class Polls:
    """A client holds one poll: a newer one ends the older, whose connection may be long dead."""

    def __init__(
        self,
        stores: Stores,
        participants: Participants,
        presence: Presence,
        changes: Changes,
        clock: Clock,
        *,
        longest_wait_seconds: float,
        most_waiting: int,
    ) -> None:
        self._participants = participants
        self._presence = presence
        self._changes = changes
        self._clock = clock
        self._lookouts = Lookouts(stores, changes)
        self._longest_wait_seconds = longest_wait_seconds
        self._most_waiting = most_waiting
        self._held: dict[tuple[str, str], Seat] = {}

    async def next_task(self, poll: Poll, who: Participant) -> Task:
        """As soon as there is something to do; else WAIT when the time is up."""
        await self._participants.admitted(poll.run, who)
        seat = Seat(who.client, poll.settled)
        with self._lookouts.seated(poll.run, seat) as lookout, self._held_by(poll.run, seat):
            task = await lookout.task_of(seat)
            self._hear(poll, seat)
            if task.kind is TaskKind.WAIT:
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
        if self._changes.is_closing or seat.bell.is_set():
            return False
        return not await poll.is_gone()

    def _hear(self, poll: Poll, seat: Seat) -> None:
        self._presence.heard(poll.run, seat.client, self._clock.now())

    @contextmanager
    def _held_by(self, run: str, seat: Seat) -> Iterator[None]:
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
