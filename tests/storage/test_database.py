"""Transactions: all or nothing, one at a time, and trouble in words; on both databases alike."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from fedperm.database import Database, transaction
from fedperm.errors import BusyError

THREADS = 8


class Base(DeclarativeBase):
    pass


class Counter(Base):
    __tablename__ = "counters"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]


class Entry(Base):
    __tablename__ = "entries"
    id: Mapped[int] = mapped_column(primary_key=True)


class Counters:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def start(self, session: Session, name: str) -> None:
        session.add(Counter(name=name, value=0))

    @transaction
    def start_unless_full(self, session: Session, name: str, most: int) -> bool:
        if session.scalar(select(func.count()).select_from(Counter)) >= most:
            return False
        session.add(Counter(name=name, value=0))
        return True

    @transaction
    def increase(self, session: Session, name: str, *, fail: bool = False) -> int:
        counter = session.get_one(Counter, name)
        counter.value += 1
        session.flush()
        if fail:
            raise RuntimeError
        return counter.value

    @transaction
    def value(self, session: Session, name: str) -> int:
        return session.get_one(Counter, name).value

    @transaction
    def enter(self, session: Session) -> None:
        session.add(Entry())

    @transaction
    def entries(self, session: Session, after: int) -> list[int]:
        return list(session.scalars(select(Entry.id).where(Entry.id > after).order_by(Entry.id)))


@pytest.fixture
def counters(database_url):
    counters = Counters(Database(database_url))
    Base.metadata.create_all(counters.database.engine)
    counters.start("a")
    yield counters
    counters.database.close()


def test_a_failed_transaction_changes_nothing(counters):
    with pytest.raises(RuntimeError):
        counters.increase("a", fail=True)
    assert counters.value("a") == 0


def test_no_read_then_write_is_lost_among_threads(counters):
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda _: counters.increase("a"), range(200)))
    assert counters.value("a") == 200


def test_what_many_rows_promise_together_holds_among_threads(counters):
    """None of them writes what another reads: a snapshot each would let all of them in."""
    with ThreadPoolExecutor(THREADS) as threads:
        names = [f"b{i}" for i in range(40)]
        started = list(threads.map(lambda name: counters.start_unless_full(name, 6), names))
    assert sum(started) == 5


def test_entries_are_seen_in_the_order_of_their_numbers(counters):
    """Who has seen number n has seen all before it."""
    seen: list[int] = []
    with ThreadPoolExecutor(THREADS) as threads:
        writing = [threads.submit(counters.enter) for _ in range(200)]
        for written in as_completed(writing):
            written.result()
            seen += counters.entries(after=seen[-1] if seen else 0)
    assert len(seen) == 200


def test_what_must_be_unique_stays_so_and_is_not_taken_for_trouble(counters):
    with pytest.raises(IntegrityError):
        counters.start("a")
    assert counters.increase("a") == 1


def test_a_locked_database_says_busy(counters):
    url = counters.database.engine.url
    impatient = Counters(Database(url.render_as_string(hide_password=False)))
    wait = "SET lock_timeout = 20" if "postgres" in url.drivername else "PRAGMA busy_timeout = 20"
    impatient.database.transact(lambda session: session.execute(text(wait)))

    def meanwhile(session: Session) -> None:
        session.get_one(Counter, "a")
        with pytest.raises(BusyError, match="locked"):
            impatient.increase("a")

    counters.database.transact(meanwhile)
    assert impatient.increase("a") == 1
    impatient.database.close()


def test_whoever_finds_no_free_connection_is_told_to_come_again(counters):
    engine = counters.database.engine
    taken = [engine.raw_connection() for _ in range(engine.pool.size())]
    engine.pool._timeout = 0.01
    with pytest.raises(BusyError, match="all connections"):
        counters.value("a")
    for connection in taken:
        connection.close()
    assert counters.value("a") == 0
