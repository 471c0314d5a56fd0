"""How long every request took, and which failed. None is ever sent again unseen."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from experiments.rush.setting import Setting
from fedperm.errors import PeerError
from fedperm.ids import RoundNumber
from fedperm.web.event_loop import fair_loop
from fedperm.web.stalls import Stall, stalls

Answer = TypeVar("Answer")

PAUSE_SECONDS = 1.0
"""After a failure, before the next try."""


@dataclass(frozen=True)
class Timing:
    """`at` is POSIX time; `failure` is empty for a request that was answered as hoped."""

    endpoint: str
    at: float
    seconds: float
    failure: str = ""


@dataclass(frozen=True)
class News:
    """A client heard that a round is published."""

    round: RoundNumber
    at: float


@dataclass
class Stopwatch:
    timings: list[Timing] = field(default_factory=list)
    news: list[News] = field(default_factory=list)

    def hear(self, number: RoundNumber) -> None:
        self.news.append(News(number, time.time()))

    async def time(self, endpoint: str, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer; a failure is noted and raised."""
        at, start, failure = time.time(), time.perf_counter(), ""
        try:
            return await ask()
        except PeerError as error:
            failure = error.message
            raise
        finally:
            seconds = time.perf_counter() - start
            self.timings.append(Timing(endpoint, at, seconds, failure))

    async def insist(self, endpoint: str, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Asks until there is an answer: every failure is noted, and the rush goes on."""
        while True:
            try:
                return await self.time(endpoint, ask)
            except PeerError:
                await asyncio.sleep(PAUSE_SECONDS)


@dataclass(frozen=True)
class Seen:
    """What one driver has to tell: `lag` is how late its own loop was at worst, which is in its
    times too."""

    timings: tuple[Timing, ...]
    news: tuple[News, ...]
    lag: Stall


def drive(work: Callable[[Stopwatch], Awaitable[None]], setting: Setting) -> Seen:
    """The work, for as long as the setting allows, on a loop that is as fair as the servers'."""
    with asyncio.Runner(loop_factory=fair_loop) as runner:
        return runner.run(_watched(work, setting))


async def _watched(work: Callable[[Stopwatch], Awaitable[None]], setting: Setting) -> Seen:
    stopwatch, lag = Stopwatch(), Stall()

    async def measure_lag() -> None:
        nonlocal lag
        async for stall in stalls():
            lag = lag.or_longer(stall)

    measuring = asyncio.create_task(measure_lag())
    try:
        async with asyncio.timeout(setting.seconds):
            await work(stopwatch)
    except TimeoutError:
        pass  # what is missing then is seen in the rounds that were not finished
    finally:
        measuring.cancel()
    return Seen(tuple(stopwatch.timings), tuple(stopwatch.news), lag)
