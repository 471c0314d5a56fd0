"""A run's events as they happen, for one reader."""

import asyncio
from collections.abc import AsyncIterator

from fedperm.ids import RunName
from fedperm.run_notifier import RunNotifier
from fedperm.wire.events import Event
from fedperm_aggregator.stores import Stores

KEEP_ALIVE_SECONDS = 15.0
LOOK_SECONDS = 1.0
"""A reader looks by itself this often, should it ever not be woken."""


class EventStream:
    def __init__(self, stores: Stores, notifier: RunNotifier) -> None:
        self._events = stores.events
        self._notifier = notifier

    async def follow(self, run: RunName, after: int) -> AsyncIterator[Event | None]:
        """From the one after `after` on; None now and then, to show that the connection lives.
        Ends when the aggregator does."""
        loop = asyncio.get_running_loop()
        yield None
        alive_at = loop.time()
        with self._notifier.watch(run) as watch:
            while True:
                is_last = self._notifier.is_closing
                while news := await asyncio.to_thread(self._events.of_run, run, after):
                    for event in news:
                        yield event
                    after, alive_at = news[-1].id, loop.time()
                if is_last:
                    return
                if loop.time() - alive_at >= KEEP_ALIVE_SECONDS:
                    yield None
                    alive_at = loop.time()
                await watch.wait(LOOK_SECONDS)
