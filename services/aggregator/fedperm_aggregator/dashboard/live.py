"""A run as it goes, for one page: all of it at first, then what has changed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from fedperm.ids import RunName
from fedperm.wire.aggregator import RunList
from fedperm.wire.message import Message
from fedperm_aggregator.dashboard.observer import Observer, Sources
from fedperm_aggregator.run_notifier import RunNotifier

KEEP_ALIVE_SECONDS = 10.0
LOOK_SECONDS = 1.0
"""What clients do is in no event: a page looks this often."""
PACE_SECONDS = 0.25
"""News come together, at most so often."""
_NO_RUN = RunName("")
"""Nothing is announced of it: its watch wakes only when the aggregator stops."""

MayGoOn = Callable[[], bool]


@dataclass(frozen=True)
class News:
    """`position` is where a page goes on that lost its connection."""

    position: int
    kind: str
    content: Message


class Live:
    def __init__(self, sources: Sources, notifier: RunNotifier) -> None:
        self._sources = sources
        self._notifier = notifier

    async def run(self, run: RunName, after: int, may_go_on: MayGoOn) -> AsyncIterator[News | None]:
        """None now and then, to show that the connection lives. Ends with the session, or with
        the aggregator."""
        observer = Observer(self._sources, run, after)

        def look() -> Iterator[News]:
            for kind, content in observer.look():
                yield News(observer.position, kind, content)

        async for news in self._follow(run, look, may_go_on):
            yield news

    async def all_runs(self, may_go_on: MayGoOn) -> AsyncIterator[News | None]:
        """The list of runs whenever it is another one."""
        seen: RunList | None = None

        def look() -> Iterator[News]:
            nonlocal seen
            newest = RunList(runs=tuple(self._sources.runs.all()))
            if newest != seen:
                seen = newest
                yield News(0, "runs", newest)

        async for news in self._follow(_NO_RUN, look, may_go_on):
            yield news

    async def _follow(
        self, run: RunName, look: Callable[[], Iterator[News]], may_go_on: MayGoOn
    ) -> AsyncIterator[News | None]:
        loop = asyncio.get_running_loop()
        alive_at = loop.time()
        with self._notifier.watch(run) as watch:
            while may_go_on():
                is_last = self._notifier.is_closing
                for news in await asyncio.to_thread(lambda: list(look())):
                    yield news
                    alive_at = loop.time()
                if is_last:
                    return
                if loop.time() - alive_at >= KEEP_ALIVE_SECONDS:
                    yield None
                    alive_at = loop.time()
                await asyncio.sleep(PACE_SECONDS)
                await watch.wait(LOOK_SECONDS)
