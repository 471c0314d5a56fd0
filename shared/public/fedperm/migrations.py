"""Moves a database from one version of its tables to another, with alembic.

Without alembic's own command and environment: a server moves its database by itself, in the
transaction in which it looked, and there is one line of revisions.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect

from fedperm.crash_points import passing, persisting
from fedperm.engines import rebuilding
from fedperm.errors import SettingsError
from fedperm.schema import Schema, recorded_version

log = logging.getLogger(__name__)

BASE = "base"
"""Before the first revision: no tables."""

_one_at_a_time = Lock()
"""Within a process: revisions reach the database by a global of alembic's."""


@cache
def _revisions(folder: Path) -> ScriptDirectory:
    """Read once: whoever opens many databases, as tests do, moves them all alike."""
    return ScriptDirectory(folder, version_locations=[folder])


class _Move:
    """On one connection, step by step."""

    def __init__(self, connection: Connection, schema: Schema) -> None:
        self._scripts = _revisions(schema.folder)
        options = {"version_table": schema.version_table}
        self._context = MigrationContext.configure(connection, opts=options)

    def up(self, version: str) -> None:
        with Operations.context(self._context):
            self._script(version).module.upgrade()
        self.mark(version)

    def down(self, version: str) -> None:
        """Undoes this one."""
        script = self._script(version)
        with Operations.context(self._context):
            script.module.downgrade()
        self.mark(str(script.down_revision or BASE))

    def mark(self, version: str) -> None:
        self._context.stamp(self._scripts, version)

    def _script(self, version: str) -> Script:
        return self._scripts.get_revision(version)


def version_of(connection: Connection, schema: Schema) -> str:
    """Refuses a database that this program cannot have made."""
    recorded = recorded_version(connection, schema)
    if recorded is not None:
        if recorded not in schema.versions:
            raise SettingsError(
                f"the database has version {recorded} of the {schema.program}'s tables; this "
                f"program knows them up to {schema.newest}",
                "start the program that made it, or a newer one",
            )
        return recorded
    found = _tables(connection, schema)
    if not found:
        return BASE
    if found != _of_the_first_revision(schema):
        raise SettingsError(
            f"the database holds tables that are not the {schema.program}'s",
            "give each server a database of its own; this one was not touched",
        )
    return schema.versions[0]


@persisting
def upgrade(engine: Engine, schema: Schema) -> None:
    """To the newest revision. What was made before versions were recorded is the first."""
    with _moving(engine) as connection:
        version, move = version_of(connection, schema), _Move(connection, schema)
        if version != BASE:
            move.mark(version)
        for later in _after(version, schema):
            move.up(later)
        passing("uncommitted")
    if version != BASE:
        log.info("the database's tables went from version %s to %s", version, schema.newest)


def downgrade(engine: Engine, schema: Schema, target: str) -> None:
    """Back to an older revision, or to none: what only the newer ones could hold is lost."""
    if target not in (BASE, *schema.versions):
        raise SettingsError(
            f"there is no version {target}", f"there are {', '.join((BASE, *schema.versions))}"
        )
    with _moving(engine) as connection:
        version, move = version_of(connection, schema), _Move(connection, schema)
        to_come = _after(version, schema)
        for later in reversed(_after(target, schema)):
            if later not in to_come:
                move.down(later)


@contextmanager
def _moving(engine: Engine) -> Iterator[Connection]:
    with _one_at_a_time, rebuilding(engine) as connection:
        yield connection


def _after(version: str, schema: Schema) -> tuple[str, ...]:
    known = schema.versions
    return known if version == BASE else known[known.index(version) + 1 :]


def _tables(connection: Connection, schema: Schema) -> dict[str, frozenset[str]]:
    """The names of all tables and of their columns."""
    looking = inspect(connection)
    names = set(looking.get_table_names()) - {schema.version_table}
    return {name: frozenset(c["name"] for c in looking.get_columns(name)) for name in names}


def _of_the_first_revision(schema: Schema) -> dict[str, frozenset[str]]:
    """As it makes them, in a database in memory."""
    with create_engine("sqlite://").begin() as scratch:
        _Move(scratch, schema).up(schema.versions[0])
        return _tables(scratch, schema)
