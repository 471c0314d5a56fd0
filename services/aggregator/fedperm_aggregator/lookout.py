"""One look at a run for all who wait for it to move on: they are many, and most changes (somebody
else's upload, say) concern none of them."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from fedperm_aggregator.changes import Changes
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.tasks import TaskView

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""The lookout looks by itself this often, should it ever not be woken."""


class Lookouts:
    """A run has one while anybody waits for it."""

    def __init__(self, stores: Stores, changes: Changes) -> None:
        self._stores = stores
        self._changes = changes
        self._posted: dict[str, _Lookout] = {}

    @contextmanager
    def bell(self, run: str, client: str) -> Iterator[asyncio.Event]:
        """Rings when the run has moved on. Get it, then look, then wait: no move is missed."""
        lookout = self._posted.get(run)
        if lookout is None:
            lookout = self._posted[run] = _Lookout(self._stores, self._changes, run, client)
        bell = asyncio.Event()
        lookout.bells.add(bell)
        try:
            yield bell
        finally:
            lookout.bells.discard(bell)
            if not lookout.bells:
                del self._posted[run]
                lookout.leave()


class _Lookout:
    """Sees with the eyes of the client that came first: where a run is, is the same for all."""

    def __init__(self, stores: Stores, changes: Changes, run: str, client: str) -> None:
        self._rounds = stores.rounds
        self._changes = changes
        self._run = run
        self._client = client
        self.bells: set[asyncio.Event] = set()
        self._duty = asyncio.create_task(self._look_out())

    def leave(self) -> None:
        self._duty.cancel()

    async def _look_out(self) -> None:
        seen: TaskView | None = None
        with self._changes.watch(self._run) as watch:
            while not self._changes.is_closing:
                view = await self._look() or seen
                if view != seen:
                    self._ring()
                seen = view
                await watch.wait(LOOK_SECONDS)
        self._ring()

    async def _look(self) -> TaskView | None:
        """None if that fails: the next look may not."""
        try:
            return await asyncio.to_thread(self._rounds.task_view, self._run, self._client)
        except Exception:
            log.exception("cannot see where run %s is", self._run)
            return None

    def _ring(self) -> None:
        for bell in self.bells:
            bell.set()
