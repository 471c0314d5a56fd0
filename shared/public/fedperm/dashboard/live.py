"""A run as it goes, for one page: all of it at first, then what has changed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fedperm.clock import Clock
from fedperm.dashboard.observer import Observer
from fedperm.dashboard.reading import Reading
from fedperm.dashboard.source import RunSource
from fedperm.errors import BusyError
from fedperm.ids import RunName
from fedperm.run_notifier import RunNotifier
from fedperm.wire.aggregator import RunList
from fedperm.wire.message import Message

KEEP_ALIVE_SECONDS = 10.0
LOOK_SECONDS = 1.0
"""What clients do is in no event: a page looks this often."""
PACE_SECONDS = 0.25
"""News come together, at most so often."""
_NO_RUN = RunName("")
"""Nothing is announced of it: its watch wakes only when the server stops."""

MayGoOn = Callable[[], bool]


@dataclass(frozen=True)
class News:
    """`position` is where a page goes on that lost its connection."""

    position: int
    kind: str
    content: Message


class Live:
    def __init__(
        self, source: RunSource, reading: Reading, clock: Clock, notifier: RunNotifier
    ) -> None:
        self._source = source
        self._reading = reading
        self._clock = clock
        self._notifier = notifier

    async def run(self, run: RunName, after: int, may_go_on: MayGoOn) -> AsyncIterator[News | None]:
        """None now and then, to show that the connection lives. Ends with the session, with the
        server, or when the source is away: the page then asks again."""
        observer = Observer(self._source, self._reading, self._clock, run, after)

        async def look() -> AsyncIterator[News]:
            async for kind, content in observer.look():
                yield News(observer.position, kind, content)

        async for news in self._follow(run, look, may_go_on):
            yield news

    async def all_runs(self, may_go_on: MayGoOn) -> AsyncIterator[News | None]:
        """The list of runs whenever it is another one."""
        seen: RunList | None = None

        async def look() -> AsyncIterator[News]:
            nonlocal seen
            newest = RunList(runs=tuple(await self._source.runs()))
            if newest != seen:
                seen = newest
                yield News(0, "runs", newest)

        async for news in self._follow(_NO_RUN, look, may_go_on):
            yield news

    async def _follow(
        self, run: RunName, look: Callable[[], AsyncIterator[News]], may_go_on: MayGoOn
    ) -> AsyncIterator[News | None]:
        loop = asyncio.get_running_loop()
        alive_at = loop.time()
        with self._notifier.watch(run) as watch:
            while may_go_on():
                is_last = self._notifier.is_closing
                try:
                    async for news in look():
                        yield news
                        alive_at = loop.time()
                except BusyError:
                    return
                if is_last:
                    return
                if loop.time() - alive_at >= KEEP_ALIVE_SECONDS:
                    yield None
                    alive_at = loop.time()
                await asyncio.sleep(PACE_SECONDS)
                await watch.wait(LOOK_SECONDS)
