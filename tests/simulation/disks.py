"""Disks that run full and databases that are locked, for the party whose code is running.

A full disk fails at whatever needs room: a new file or folder, writing, syncing, renaming, and in
SQLite a changed row or a commit. It stays full until `relieve`. Removing always works.
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.simulation.lives import living
from tests.simulation.tally import Tally

_WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass
class Shortage:
    """From the `left`-th effect on nothing more fits; `torn` files begin and cannot be written."""

    left: int
    torn: bool
    is_felt: bool = False

    def begins(self) -> bool:
        self.left -= 1
        return self.left <= 0


class Disks:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._short: dict[str, Shortage] = {}
        self._has_written = False

    def run_short(self, party: str, shortage: Shortage) -> None:
        self._short[party] = shortage

    def relieve(self, everybody: bool = False) -> None:
        """Whoever felt it gets room again."""
        self._short = {
            party: shortage
            for party, shortage in self._short.items()
            if not (shortage.is_felt or everybody)
        }

    def is_felt_by(self, party: str) -> bool:
        shortage = self._short.get(party)
        return shortage is not None and shortage.is_felt

    @contextmanager
    def installed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "open", self._opening(os.open))
            for call in ("fsync", "replace", "rename", "mkdir"):
                patch.setattr(os, call, self._checked(getattr(os, call)))
            yield

    def attach(self, engine: Engine) -> None:
        """A database on one of these disks; a locked one says so at once."""
        event.listen(engine, "do_execute", self._execute)
        event.listen(engine, "checkout", _be_impatient)
        commit = engine.dialect.do_commit

        def do_commit(connection: Any) -> None:
            if self._has_written and self._is_full():
                raise _database_is_full()
            commit(connection)

        engine.dialect.do_commit = do_commit

    def _execute(self, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("BEGIN"):
            self._has_written = False
        elif statement.startswith(_WRITES):
            if self._is_full():
                raise _database_is_full()
            self._has_written = True

    def _is_full(self) -> bool:
        life = living()
        shortage = self._short.get(life.party.name) if life is not None else None
        if shortage is None or not shortage.begins():
            return False
        if not shortage.is_felt:
            shortage.is_felt = True
            self._tally.faults["disk full"] += 1
        return True

    def _is_torn(self) -> bool:
        life = living()
        return life is not None and self._short[life.party.name].torn

    def _checked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **options: Any) -> Any:
            if self._is_full():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call(*args, **options)

        return checked

    def _opening(self, call: Callable[..., int]) -> Callable[..., int]:
        """A torn file is there, and what is written to it meets the end of the disk."""

        def opening(path: Any, flags: int, *args: Any, **options: Any) -> int:
            if not flags & os.O_CREAT or not self._is_full():
                return call(path, flags, *args, **options)
            if not self._is_torn():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            descriptor, full = call(path, flags, *args, **options), call("/dev/full", os.O_WRONLY)
            os.dup2(full, descriptor)
            os.close(full)
            return descriptor

        return opening


def _be_impatient(connection: sqlite3.Connection, *_rest: Any) -> None:
    connection.execute("PRAGMA busy_timeout = 0")


def _database_is_full() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorname = "SQLITE_FULL"
    return error


@contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Somebody else is in the middle of a transaction."""
    other = sqlite3.connect(engine.url.database or "", isolation_level=None, timeout=0)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()
