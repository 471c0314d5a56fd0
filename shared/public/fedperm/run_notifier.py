"""Waking those who wait for a run to change. Used on the event loop only, but for `close`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from fedperm.ids import RunName


class Watch:
    """Wakes once for all changes since it was last asked."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Until a change, or so long."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return
        self._changed.clear()

    def wake(self) -> None:
        self._changed.set()

    def wake_from_outside(self) -> None:
        self._loop.call_soon_threadsafe(self._changed.set)


class RunNotifier:
    def __init__(self) -> None:
        self._watches: dict[RunName, set[Watch]] = {}
        self.is_closing = False

    @contextmanager
    def watch(self, run: RunName) -> Iterator[Watch]:
        """Begin to watch, then look, then wait: no change is missed in between."""
        watch = Watch()
        watches = self._watches.setdefault(run, set())
        watches.add(watch)
        try:
            yield watch
        finally:
            watches.discard(watch)

    def announce(self, run: RunName) -> None:
        for watch in self._watches.get(run, ()):
            watch.wake()

    def close(self) -> None:
        """At the signal to stop: long polls and streams end, so that the server can."""
        self.is_closing = True
        for watches in list(self._watches.values()):
            for watch in list(watches):
                watch.wake_from_outside()
