"""One way to a database: SQLite by default, another by its URL.

Every method of a store is one transaction (`transaction`). For SQLite a writer takes the lock
when it begins: SQLAlchemy's default would let two of them read, then lose one's write.
"""

import sqlite3
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import URL, Engine, MetaData, create_engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from fedperm.errors import BusyError, SettingsError, StorageFullError

BUSY_SECONDS = 5.0
"""How long a writer waits for the lock before it says so."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Database:
    """An engine, and transactions on it."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)

    def transact(self, work: Callable[[Session], Result]) -> Result:
        """Commits what `work` did, or nothing of it."""
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                return work(session)
        except OperationalError as error:
            raise _in_words(error) from error

    def close(self) -> None:
        self.engine.dispose()


def sqlite_url(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string()


def open_database(url: str, tables: MetaData) -> Database:
    """With the tables that are missing. The URL may hold a password and is not repeated."""
    try:
        database = Database(url)
        tables.create_all(database.engine)
    except (SQLAlchemyError, ImportError) as error:
        raise SettingsError(
            f"the database cannot be opened: {type(error).__name__}",
            "check the database URL, or the permissions of the state directory",
        ) from error
    return database


class Stored(Protocol):
    """A store: whatever has a database."""

    @property
    def database(self) -> Database: ...


AnyStore = TypeVar("AnyStore", bound=Stored)


def transaction(
    method: Callable[Concatenate[AnyStore, Session, Arguments], Result],
) -> Callable[Concatenate[AnyStore, Arguments], Result]:
    """A store's method as one transaction; the session is handed in."""

    @wraps(method)
    def run(store: AnyStore, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return store.database.transact(lambda session: method(store, session, *args, **kwargs))

    return run


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, isolation_level="REPEATABLE READ", pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _take_the_lock)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _take_the_lock(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _in_words(error: OperationalError) -> Exception:
    text = str(error.orig)
    if "locked" in text or "busy" in text:
        return BusyError("the database is locked", "try again in a second")
    if "full" in text:
        return StorageFullError("the database has no room left", "free disk space and try again")
    return BusyError("the database does not answer", "try again; the log says more")
