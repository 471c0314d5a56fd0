"""Versions of a database's tables: what a server finds at its start, and what it expects.

Revisions are files of a package, `0001_first.py` and so on, each with a way up and a way down
(`migrations`). Which of them a database has is a row in a table of its own; each program has its
own such table, so none takes another's database for its own.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection, Engine, column, inspect, select, table

VERSION_COLUMN = "version_num"  # as alembic names it


@dataclass(frozen=True)
class Schema:
    """`revisions` is the name of a package."""

    program: str
    revisions: str

    @property
    def version_table(self) -> str:
        return f"{self.program}_schema"

    @property
    def folder(self) -> Path:
        return Path(str(files(self.revisions)))

    @property
    def versions(self) -> tuple[str, ...]:
        """From the first to the newest."""
        return tuple(sorted(path.name[:4] for path in self.folder.glob("[0-9]*.py")))

    @property
    def newest(self) -> str:
        return self.versions[-1]


def bring_up_to_date(engine: Engine, schema: Schema) -> None:
    """In one transaction, or not at all. Alembic takes a while to load and memory to keep: a
    database that is up to date does without."""
    with engine.begin() as connection:
        is_up_to_date = recorded_version(connection, schema) == schema.newest
    if not is_up_to_date:
        from fedperm import migrations  # noqa: PLC0415

        migrations.upgrade(engine, schema)


def recorded_version(connection: Connection, schema: Schema) -> str | None:
    """None where nothing is recorded: an empty database, or somebody else's."""
    if not inspect(connection).has_table(schema.version_table):
        return None
    recorded = table(schema.version_table, column(VERSION_COLUMN))
    version: str | None = connection.scalar(select(recorded.c[VERSION_COLUMN]))
    return version
