"""How late the event loop is: while it is held up nobody is answered, so it should never be long.

A task asks to be woken every few milliseconds and looks by how much later it was. Two things make
it late: work of this process, on the loop or in a thread that holds the interpreter's lock; and
other processes that had the processor. The kernel counts the second (the time in which the loop's
thread was ready to run and no core was free), so that what is left is this process's own share.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, Histogram

LOOK_SECONDS = 0.02
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


@dataclass(frozen=True)
class Stall:
    """Seconds that the loop was late: by the clock, without the wait for a processor, and of that
    what it computed itself; the rest it waited for other threads, or for a device."""

    all: float = 0.0
    own: float = 0.0
    loop: float = 0.0

    def or_longer(self, other: "Stall") -> "Stall":
        return Stall(max(self.all, other.all), max(self.own, other.own), max(self.loop, other.loop))


async def stalls() -> AsyncIterator[Stall]:
    """One after the other, most of them next to nothing; for as long as somebody asks."""
    queued = _queued_seconds()
    while True:
        before, used, due = queued(), time.thread_time(), time.perf_counter() + LOOK_SECONDS
        await asyncio.sleep(LOOK_SECONDS)
        late = max(0.0, time.perf_counter() - due)
        own = max(0.0, late - (queued() - before))
        yield Stall(late, own, min(own, time.thread_time() - used))


class StallMeter:
    """Measures while `running` holds; the metrics are there from the start."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._stalls = Histogram(
            "fedperm_event_loop_stall_seconds",
            "How much later than asked the event loop woke up",
            buckets=_SECONDS,
            registry=registry,
        )
        longest = Gauge(
            "fedperm_event_loop_longest_stall_seconds",
            "The latest it ever was: by the clock, without the wait for a processor, its own CPU",
            ["share"],
            registry=registry,
        )
        self._shares = {share: longest.labels(share) for share in ("all", "own", "loop")}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        measuring = asyncio.create_task(self._measure())
        try:
            yield
        finally:
            measuring.cancel()
            with suppress(asyncio.CancelledError):
                await measuring

    async def _measure(self) -> None:
        longest = Stall()
        async for stall in stalls():
            self._stalls.observe(stall.all)
            longest = longest.or_longer(stall)
            for share, gauge in self._shares.items():
                gauge.set(getattr(longest, share))


def _queued_seconds() -> Callable[[], float]:
    """Tells how long this thread was ready to run and had to wait for a core. Always 0 where the
    kernel does not say: every stall counts as our own then."""
    file = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    return (lambda: int(file.read_text().split()[1]) / 1e9) if file.exists() else (lambda: 0.0)
