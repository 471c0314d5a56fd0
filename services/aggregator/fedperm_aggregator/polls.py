"""Long polls: a client waits for its next task, for a while and without holding a thread."""

import asyncio

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

    async def next_task(
        self, run: str, who: Participant, settled: int, wait_seconds: float
    ) -> Task:
        """As soon as there is something to do; else WAIT when the time is up."""
        await asyncio.to_thread(self._participants.check, run, who)
        with self._changes.watch(run) as watch:
            self._take_place((run, who.client), watch)
            try:
                return await self._wait(run, who.client, settled, wait_seconds, watch)
            finally:
                self._leave((run, who.client), watch)

    async def _wait(
        self, run: str, client: str, settled: int, wait_seconds: float, watch: Watch
    ) -> Task:
        loop = asyncio.get_running_loop()
        end = loop.time() + min(wait_seconds, self._longest_wait_seconds)
        while True:
            task = await asyncio.to_thread(self._look, run, client, settled)
            left = end - loop.time()
            is_last = self._changes.is_closing or self._held.get((run, client)) is not watch
            if task.kind is not TaskKind.WAIT or left <= 0 or is_last:
                return task
            await watch.wait(min(left, LOOK_SECONDS))

    def _look(self, run: str, client: str, settled: int) -> Task:
        """Whoever waits here is online."""
        self._presence.heard(run, client, self._clock.now())
        return next_task(self._rounds.task_view(run, client), settled)

    def _take_place(self, key: tuple[str, str], watch: Watch) -> None:
        older = self._held.get(key)
        if older is None and len(self._held) >= self._most_waiting:
            raise BusyError(f"{len(self._held)} clients are waiting already", "ask again soon")
        self._held[key] = watch
        if older is not None:
            older.wake()

    def _leave(self, key: tuple[str, str], watch: Watch) -> None:
        if self._held.get(key) is watch:
            del self._held[key]
