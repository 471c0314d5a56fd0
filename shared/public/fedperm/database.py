"""One way to a database: SQLite by default, PostgreSQL by its URL.

Every method of a store is one transaction (`transaction`), and they happen one at a time
(`engines`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnectionError
from sqlalchemy.orm import Session, sessionmaker

from fedperm.crash_points import passing, persisting
from fedperm.engines import erase_leftovers, open_engine
from fedperm.errors import BusyError, ServiceError, SettingsError, StorageFullError
from fedperm.schema import Schema, bring_up_to_date

MOST_ATTEMPTS = 5
"""Of a transaction that PostgreSQL undid."""

_UNDONE = ("40001", "40P01")  # by a failure to serialize, by a deadlock
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03")
_FULL = ("SQLITE_FULL", "53100")

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Database:
    """An engine, and transactions on it. Whoever has to see them all listens to `sessions`."""

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        self.sessions = sessionmaker(self.engine, expire_on_commit=False)

    def transact(self, work: Callable[[Session], Result]) -> Result:
        """Commits what `work` did, or nothing of it. `work` may be called again, so it has no
        effect but through the session."""
        try:
            return self._repeatedly(work)
        except SQLAlchemyError as error:
            in_words = _in_words(error)
            if in_words is None:
                raise
            raise in_words from error

    def erase_leftovers(self, tables: Sequence[str]) -> None:
        """Of rows that were changed or removed, as far as a database can: outside a transaction,
        and after the one that did it. Backups and archived logs keep what they have."""
        try:
            erase_leftovers(self.engine, tables)
        except SQLAlchemyError as error:
            raise _in_words(error) or error from error

    def close(self) -> None:
        self.engine.dispose()

    def _repeatedly(self, work: Callable[[Session], Result]) -> Result:
        for _ in range(MOST_ATTEMPTS - 1):
            try:
                return self._once(work)
            except OperationalError as error:
                if _code(error) not in _UNDONE:
                    raise
        return self._once(work)

    def _once(self, work: Callable[[Session], Result]) -> Result:
        with self.sessions() as session, session.begin():
            result = work(session)
            session.flush()
            passing("uncommitted")
            return result


def sqlite_url(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string()


def open_database(url: str, schema: Schema) -> Database:
    """With its tables up to date. The URL may hold a password and is not repeated."""
    with _trouble_in_words():
        database = Database(url)
        try:
            bring_up_to_date(database.engine, schema)
        except BaseException:
            database.close()
            raise
    return database


@contextmanager
def database_at(url: str) -> Iterator[Database]:
    """For a command: opened as it is, and closed."""
    with _trouble_in_words():
        database = Database(url)
        try:
            yield database
        finally:
            database.close()


@contextmanager
def _trouble_in_words() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"the database's driver is not installed: {error.name}",
            "PostgreSQL's comes with the extra fedperm[postgres]",
        ) from error
    except SQLAlchemyError as error:
        raise SettingsError(
            f"the database cannot be opened: {_without_url(error)}",
            "check the database URL and its server, or the permissions of the state directory",
        ) from error


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

    return persisting(run)


def _in_words(error: SQLAlchemyError) -> ServiceError | None:
    """None for what is no trouble of the database's: a mistake of ours, say."""
    if isinstance(error, NoFreeConnectionError):
        return BusyError("all connections to the database are in use", "try again in a second")
    if not isinstance(error, DBAPIError) or not _is_the_databases(error):
        return None
    code = _code(error)
    if code.startswith(_LOCKED):
        return BusyError("the database is locked", "try again in a second")
    if code.startswith(_FULL):
        return StorageFullError("the database has no room left", "free disk space and try again")
    return BusyError("the database does not answer", "try again; the log says more")


def _is_the_databases(error: DBAPIError) -> bool:
    return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated


def _code(error: DBAPIError) -> str:
    """SQLite's name of the error, or PostgreSQL's SQLSTATE; none if nobody answered."""
    name = getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None)
    return name or ""


def _without_url(error: SQLAlchemyError) -> str:
    """What the server or the driver said of a connection; other errors may repeat the URL."""
    if isinstance(error, OperationalError):
        return " ".join(str(error.orig).split())
    return type(error).__name__
