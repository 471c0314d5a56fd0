"""Why transactions take turns on PostgreSQL: three ways to keep what spans rows, compared.

    .venv/bin/python -m experiments.isolation [SECONDS]

Half of the threads append to one chain, as the audit log is one; all leave an event each time. A
reader asks again and again for the events after the last that it has seen, as an operator's stream
does. Starts a PostgreSQL of its own, in a temporary folder; without fsync, so only the ways differ.
"""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import IntegrityError, OperationalError
from tests.storage.postgresql import MISSING, installed_binaries, started

THREADS = 8
SECONDS = 3.0
_TABLES = (
    "CREATE TABLE chain (number INTEGER PRIMARY KEY, hash TEXT NOT NULL)",
    "CREATE TABLE events (id BIGSERIAL PRIMARY KEY)",
    "INSERT INTO chain VALUES (0, '')",
)


@dataclass(frozen=True)
class Way:
    """An isolation level, and what a transaction does first."""

    name: str
    level: str
    first: str = "SELECT 1"


WAYS = (
    Way("in turns (READ COMMITTED)", "READ COMMITTED", "SELECT pg_advisory_xact_lock(1)"),
    Way("REPEATABLE READ, retried", "REPEATABLE READ"),
    Way("SERIALIZABLE, retried", "SERIALIZABLE"),
)


@dataclass
class Tally:
    """Counted without a lock: off by a few, where there are hundreds."""

    appended: int = 0
    undone: int = 0
    seen: int = 0
    events: int = 0


def measure(way: Way, url: str, seconds: float) -> Tally:
    engine = create_engine(url, isolation_level=way.level, pool_size=THREADS + 1)
    with engine.begin() as connection:
        for statement in _TABLES:
            connection.execute(text(statement))
    tally, stop = Tally(), threading.Event()
    with ThreadPoolExecutor(THREADS + 1) as threads:
        reading = threads.submit(_read, engine, tally, stop)
        writing = [
            threads.submit(_write, engine, way, tally, stop, appends=number % 2 == 0)
            for number in range(THREADS)
        ]
        time.sleep(seconds)
        stop.set()
        for future in (reading, *writing):
            future.result()
    with engine.begin() as connection:
        tally.events = connection.execute(text("SELECT count(*) FROM events")).scalar_one()
        tally.appended = connection.execute(text("SELECT max(number) FROM chain")).scalar_one()
    engine.dispose()
    return tally


def _write(engine: Engine, way: Way, tally: Tally, stop: threading.Event, *, appends: bool) -> None:
    while not stop.is_set():
        try:
            with engine.begin() as connection:
                connection.execute(text(way.first))
                connection.execute(text("INSERT INTO events DEFAULT VALUES"))
                connection.execute(text("SELECT 1"))  # whatever else the transaction does
                if appends:
                    _append(connection)
        except (OperationalError, IntegrityError):
            tally.undone += 1


def _append(connection: Connection) -> None:
    last = "SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1"
    number, hashed = connection.execute(text(last)).one()
    values = {"number": number + 1, "hash": f"{hash((number, hashed)):x}"}
    connection.execute(text("INSERT INTO chain VALUES (:number, :hash)"), values)


def _read(engine: Engine, tally: Tally, stop: threading.Event) -> None:
    newest = 0
    query = text("SELECT id FROM events WHERE id > :newest ORDER BY id")
    is_last = False
    while not is_last:
        is_last = stop.is_set()
        if is_last:
            time.sleep(0.2)  # the last transactions end
        with engine.begin() as connection:
            found = [row.id for row in connection.execute(query, {"newest": newest})]
        tally.seen += len(found)
        newest = max(found, default=newest)


def main(seconds: float, write: Callable[[str], object] = sys.stdout.write) -> int:
    binaries = installed_binaries()
    if binaries is None:
        write(f"{MISSING}\n")
        return 1
    write(f"{THREADS} threads, half of them append to one chain; {seconds:g} s each way\n\n")
    write(f"{'':28}{'appended/s':>12}{'undone':>8}{'events that the reader missed':>31}\n")
    with started(binaries) as server:
        for way in WAYS:
            tally = measure(way, server.new_database(), seconds)
            rate, missed = tally.appended / seconds, f"{tally.events - tally.seen:,}"
            share = tally.undone / max(1, tally.appended + tally.undone)
            write(f"{way.name:28}{rate:12.0f}{share:8.0%}{missed:>22} of {tally.events:,}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
