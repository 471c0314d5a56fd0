"""Parties that can be ended at any moment, as by SIGKILL, and started again.

A killed process has no last word: no `finally` tidies up. Here it must be unwound, so its folder is
copied at the moment of its end, and whatever the unwinding does happens to the one left behind.
All is one thread, so nobody writes while the folder is copied.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from tests.aggregator.parties import ManualClock
from tests.simulation.tally import Tally


class Killed(BaseException):
    """Unwinds a party that is dead already."""


@dataclass(eq=False)
class Life:
    """One process of a party; what runs in its name knows it."""

    party: "Party"
    end: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        return self.end.is_set()


_living: ContextVar[Life | None] = ContextVar("living", default=None)


def living() -> Life | None:
    """Whose code is running; None for the tests' own and for what is left of a dead party."""
    life = _living.get()
    return None if life is None or life.is_over else life


@contextmanager
def acting(life: Life | None) -> Iterator[None]:
    """The block is this party's code, or nobody's."""
    before = _living.set(life)
    try:
        yield
    finally:
        _living.reset(before)


def watch(moment: str) -> None:
    """Of every crash point that is passed."""
    life = living()
    if life is not None:
        life.party.passes(moment)


@dataclass
class Fuse:
    """Burns down with every moment that is passed, or with those of one step. Several parties may
    share it: it ends the one that comes to the last of these moments, and nobody after that."""

    left: int
    step: str = ""
    rest: int = 0

    def burns_out(self, moment: str) -> bool:
        if not moment.startswith(self.step):
            return False
        self.left -= 1
        return self.left == 0


class Party:
    """`fuse` ends it; `rest` is for how many operations it stays down then."""

    def __init__(self, name: str, home: Path, clock: ManualClock, tally: Tally) -> None:
        self.name = name
        self.clock = clock
        self.tally = tally
        self.fuse: Fuse | None = None
        self.rest = 0
        self.life: Life | None = None
        self._home = home
        self._copies = 0
        home.mkdir()
        self.folder = home / "0"
        self.folder.mkdir()

    @property
    def is_up(self) -> bool:
        return self.life is not None

    def passes(self, moment: str) -> None:
        self.tally.moments[moment] += 1
        if self.fuse is not None and self.fuse.burns_out(moment):
            self.rest, self.fuse = self.fuse.rest, None
            self.tally.ends[moment] += 1
            self.tally.faults[f"crash of {self._kind}"] += 1
            self.die()

    def die(self) -> None:
        """As by SIGKILL. Its disk may be full; the copy is not on it."""
        with acting(None):
            self._copy_folder()
        self.end()
        raise Killed(self.name)

    def end(self) -> None:
        """The process is no more; its folder is as it was left."""
        if self.life is not None:
            self.life.end.set()
            self.life = None

    def born(self) -> Life:
        self.life = Life(self)
        return self.life

    @property
    def _kind(self) -> str:
        return type(self).__name__.lower()

    def _copy_folder(self) -> None:
        """Without SQLite's index of its log, which every first opener makes anew."""
        self._copies += 1
        copy = self._home / str(self._copies)
        shutil.copytree(self.folder, copy, ignore=shutil.ignore_patterns("*-shm"))
        self.folder = copy
