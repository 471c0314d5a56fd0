"""Long polls: a client waits for its next task, for a while and without holding a thread."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import BusyError
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.changes import Changes
from fedperm_aggregator.gate import Participant
from fedperm_aggregator.lookout import Lookouts
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.tasks import next_task

PULSE_SECONDS = 5.0
"""Whoever waits is online, and this often found to be still there; no database is asked for it."""
LOOKS_AT_ONCE = 4
"""When a round opens all who wait look at the database; more at once would only lock it."""


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
        self._rounds = stores.rounds
        self._participants = participants
        self._presence = presence
        self._changes = changes
        self._clock = clock
        self._lookouts = Lookouts(stores, changes)
        self._longest_wait_seconds = longest_wait_seconds
        self._most_waiting = most_waiting
        self._held: dict[tuple[str, str], asyncio.Event] = {}
        self._looking = asyncio.Semaphore(LOOKS_AT_ONCE)

    async def next_task(self, poll: Poll, who: Participant) -> Task:
        """As soon as there is something to do; else WAIT when the time is up."""
        async with self._looking:
            await asyncio.to_thread(self._participants.check, poll.run, who)
        key = (poll.run, who.client)
        with self._lookouts.bell(*key) as bell:
            self._take_place(key, bell)
            try:
                return await self._wait(poll, who.client, bell)
            finally:
                self._leave(key, bell)

    async def _wait(self, poll: Poll, client: str, bell: asyncio.Event) -> Task:
        seconds = min(poll.wait_seconds, self._longest_wait_seconds)
        end = asyncio.get_running_loop().time() + seconds
        task = await self._look(poll, client)
        while task.kind is TaskKind.WAIT and await self._rings(poll, client, bell, end):
            task = await self._look(poll, client)
        return task

    async def _rings(self, poll: Poll, client: str, bell: asyncio.Event, end: float) -> bool:
        """Whether the run has moved on before the wait is over."""
        loop = asyncio.get_running_loop()
        while (left := end - loop.time()) > 0 and await self._is_wanted(poll, client, bell):
            if bell.is_set():
                bell.clear()
                return True
            self._presence.heard(poll.run, client, self._clock.now())
            with suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), min(left, PULSE_SECONDS))
        return False

    async def _is_wanted(self, poll: Poll, client: str, bell: asyncio.Event) -> bool:
        """The client has neither asked anew nor hung up, and the aggregator goes on."""
        if self._changes.is_closing or self._held.get((poll.run, client)) is not bell:
            return False
        return not await poll.is_gone()

    async def _look(self, poll: Poll, client: str) -> Task:
        async with self._looking:
            view = await asyncio.to_thread(self._rounds.task_view, poll.run, client)
        self._presence.heard(poll.run, client, self._clock.now())
        return next_task(view, poll.settled)

    def _take_place(self, key: tuple[str, str], bell: asyncio.Event) -> None:
        older = self._held.get(key)
        if older is None and len(self._held) >= self._most_waiting:
            raise BusyError(f"{len(self._held)} clients are waiting already", "ask again soon")
        self._held[key] = bell
        if older is not None:
            older.set()

    def _leave(self, key: tuple[str, str], bell: asyncio.Event) -> None:
        if self._held.get(key) is bell:
            del self._held[key]
