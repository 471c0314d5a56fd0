"""Time and work as a test sets them in another process, by way of small files."""

import time
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from tests.core.federation import InlineExecutor


@dataclass(frozen=True)
class Dial:
    """A number that one process sets and another reads; 0 until it is set."""

    path: Path

    def set(self, number: float) -> None:
        unfinished = self.path.with_name(self.path.name + ".new")
        unfinished.write_text(repr(number))
        unfinished.replace(self.path)

    def read(self) -> float:
        try:
            return float(self.path.read_text())
        except FileNotFoundError:
            return 0.0


@dataclass(frozen=True)
class ShiftedClock:
    """The system's time, so many seconds, and what work has taken. Two dials: each has one who
    sets it."""

    shift: Dial
    spent: Dial

    @classmethod
    def within(cls, folder: Path) -> "ShiftedClock":
        return cls(Dial(folder / "clock-shift"), Dial(folder / "clock-spent"))

    def now(self) -> float:
        return time.time() + self.shift.read() + self.spent.read()

    def advance(self, seconds: float) -> None:
        """For the test."""
        self.shift.set(self.shift.read() + seconds)

    def spend(self, seconds: float) -> None:
        """For the process that it has started."""
        self.spent.set(self.spent.read() + seconds)


class PacedExecutor(InlineExecutor):
    """Works in the thread that asks, since starting a worker process takes longer than all else
    that happens in a case. A job waits for `pace` seconds, and then takes `toll` seconds of the
    shifted clock, which are over at once. What waits when the pool is closed is broken off, as in
    a process that is ended."""

    def __init__(self, pace: Dial, toll: Dial, clock: ShiftedClock) -> None:
        self._pace = pace
        self._toll = toll
        self._clock = clock
        self._is_over = Event()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if self._is_over.wait(self._pace.read()):
            raise BrokenExecutor
        if toll := self._toll.read():
            self._clock.spend(toll)
        return super().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        self._is_over.set()
