"""Long polls: a client waits for its next task, for a while and without holding a thread."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.errors import BusyError
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.changes import Changes, Watch
from fedperm_aggregator.gate import Participant
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.tasks import next_task

LOOK_SECONDS = 2.0
"""A poll looks by itself this often, should it ever not be woken."""


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
        self._longest_wait_seconds = longest_wait_seconds
        self._most_waiting = most_waiting
        self._held: dict[tuple[str, str], Watch] = {}

    async def next_task(self, poll: Poll, who: Participant) -> Task:
        """As soon as there is something to do; else WAIT when the time is up."""
        await asyncio.to_thread(self._participants.check, poll.run, who)
        key = (poll.run, who.client)
        with self._changes.watch(poll.run) as watch:
            self._take_place(key, watch)
            try:
                return await self._wait(poll, who.client, watch)
            finally:
                self._leave(key, watch)

    async def _wait(self, poll: Poll, client: str, watch: Watch) -> Task:
        loop = asyncio.get_running_loop()
        end = loop.time() + min(poll.wait_seconds, self._longest_wait_seconds)
        while True:
            task = await asyncio.to_thread(self._look, poll, client)
            left = end - loop.time()
            if task.kind is not TaskKind.WAIT or left <= 0:
                return task
            if self._changes.is_closing or not self._holds(poll.run, client, watch):
                return task
            if await poll.is_gone():
                return task
            await watch.wait(min(left, LOOK_SECONDS))

    def _holds(self, run: str, client: str, watch: Watch) -> bool:
        """And has not asked anew."""
        return self._held.get((run, client)) is watch

    def _look(self, poll: Poll, client: str) -> Task:
        """Whoever waits here is online."""
        self._presence.heard(poll.run, client, self._clock.now())
        return next_task(self._rounds.task_view(poll.run, client), poll.settled)

    def _take_place(self, key: tuple[str, str], watch: Watch) -> None:
        older = self._held.get(key)
        if older is None and len(self._held) >= self._most_waiting:
            raise BusyError(f"{len(self._held)} clients are waiting already", "ask again soon")
        self._held[key] = watch
        if older is not None:
            older.wake()

    def _leave(self, key: tuple[str, str], watch: Watch) -> None:
        if self._holds(*key, watch):
            del self._held[key]
