"""SQLite and PostgreSQL, opened so that there is one transaction at a time, readers included.

What the stores promise spans rows: who is in a sealed round, an audit chain without a gap, events
whose numbers rise in the order in which they can be seen. One at a time, all of it holds on both
databases alike.

SQLite has a lock for it; SQLAlchemy's default would let two writers read, then lose one's write.
PostgreSQL gets an advisory lock, and READ COMMITTED: every statement after the lock sees all that
was committed before it, while REPEATABLE READ would see what was there before the wait. Not
SERIALIZABLE with retries: numbers of events are drawn before they can be seen, which no isolation
level orders, and where all append to one chain nearly every attempt is undone.
"""

import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine import Connection

from fedperm.durable_file import PRIVATE, create_exclusively
from fedperm.errors import BusyError, SettingsError
from fedperm.state_folder import OTHERS

BUSY_SECONDS = 5
"""How long a transaction waits for its turn before it says so."""

CONNECTIONS = 2
"""One works, one is on its way; more would only wait, each with a cache of its own. SQLite has one:
whoever waits for its lock sleeps longer and longer, while those who wait for a connection are
woken in turn."""

_TLS = "verify-full"

_RETRY_SECONDS = 0.02

_TURN = 0x46656450
"""The lock's number: any that other users of the database do not take."""

_POOL: dict[str, Any] = {
    "pool_size": CONNECTIONS,
    "max_overflow": 0,
    "pool_timeout": BUSY_SECONDS,
    "hide_parameters": True,  # errors go to the log, and rows hold what must not
}


def open_engine(url: str) -> Engine:
    match make_url(url).get_backend_name():
        case "sqlite":
            return _sqlite(url)
        case "postgresql":
            return _postgresql(url)
        case other:
            raise SettingsError(
                f"the database cannot be opened: {other} is not supported",
                "use a URL of SQLite or PostgreSQL, or none",
            )


def check_is_private(url: str, exception: str) -> None:
    """PostgreSQL on another machine is spoken to by TLS, and must show that it is the one that was
    meant: else whoever stands between reads and writes rows. `exception` names the setting for
    those who know better. The URL may hold a password and is not repeated."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "postgresql" or _is_local(parsed):
        return
    if parsed.query.get("sslmode") != _TLS:
        raise SettingsError(
            "the database is on another machine, and its URL does not ask for sslmode=verify-full",
            f"add ?sslmode={_TLS}&sslrootcert=FILE, the CA of the database's certificate, or, on "
            f"a network that nobody else uses, set {exception}=true",
        )


def _is_local(url: URL) -> bool:
    """By socket or loopback. What is said of the place elsewhere (a service file) is not known."""
    if "service" in url.query:
        return False
    said = (url.host, *(url.query.get(name) for name in ("host", "hostaddr")))
    given = [",".join(one) if isinstance(one, tuple) else one for one in said if one]
    return all(_is_here(host) for listed in given for host in listed.split(","))


def _is_here(host: str) -> bool:
    if host == "localhost" or host.startswith(("/", "@")):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def rebuilding(engine: Engine) -> Iterator[Connection]:
    """One transaction that may rebuild tables. SQLite can drop no table that others refer to
    while it enforces references; it checks all of them at the end instead."""
    with engine.connect() as connection:
        if engine.dialect.name != "sqlite":
            with connection.begin():
                yield connection
            return
        _enforce_references(connection, "OFF")  # not possible within a transaction
        try:
            with connection.begin():
                yield connection
                _check_references(connection)
        finally:
            _enforce_references(connection, "ON")


def erase_leftovers(engine: Engine, tables: Sequence[str]) -> None:
    """Rows that were changed or removed lie in free pages, and in the write-ahead log, until their
    place is used again. SQLite copies what is left into new pages and empties its log; PostgreSQL
    does so with the tables, and leaves its log to itself."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute("VACUUM")
            is_busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise BusyError("another program reads the database", "stop it, and try again")
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in tables:
            connection.exec_driver_sql(f'VACUUM (FULL) "{table}"')


def _enforce_references(connection: Connection, switch: str) -> None:
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA foreign_keys={switch}")


def _check_references(connection: Connection) -> None:
    if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise SettingsError(
            "rows of the database would refer to rows that are missing",
            "nothing was changed; restore the database from a backup",
        )


def _sqlite(url: str) -> Engine:
    where = make_url(url)
    if where.database and "uri" not in where.query:
        _close_files(Path(where.database))
    alone = _POOL | {"pool_size": 1}
    engine = create_engine(url, connect_args={"timeout": float(BUSY_SECONDS)}, **alone)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _close_files(file: Path) -> None:
    """SQLite makes a database as the umask says, and its other files with the database's mode: so
    it finds one. What an earlier version left open is closed."""
    with suppress(OSError):  # it is there; or cannot be, which SQLite says in its own words
        create_exclusively(file).close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        _close_file(file.with_name(file.name + suffix))


def _close_file(file: Path) -> None:
    with suppress(OSError):  # there is none, or SQLite will say what is wrong with it
        if not stat.S_IMODE(file.stat().st_mode) & OTHERS:
            return
        try:
            file.chmod(PRIVATE)
        except PermissionError:
            raise SettingsError(
                f"the database {file} is open to others and belongs to another user",
                "give it to the user who runs this program",
            ) from None


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Of several that open a new file at once, SQLite tells all but one that it is busy, and does
    not wait: its timeout is not for locks that two would have to give up for each other."""
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    _write_ahead(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _postgresql(url: str) -> Engine:
    # a server that vanished without a word is noticed within half a minute, not after hours
    alive = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    engine = create_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        **_POOL,
        connect_args={"connect_timeout": BUSY_SECONDS, **alive},
    )
    event.listen(engine, "connect", _prepare_postgresql)
    event.listen(engine, "begin", _take_turns)
    return engine


def _prepare_postgresql(connection: Any, _record: Any) -> None:
    """A process that stands still in a transaction must not stop all others for ever."""
    connection.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    connection.execute(f"SET idle_in_transaction_session_timeout = '{6 * BUSY_SECONDS}s'")
    connection.commit()


def _take_turns(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TURN})")
