"""Transactions: all or nothing, and no write is lost among concurrent ones."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from fedperm.database import Database, transaction
from fedperm.errors import BusyError


class Base(DeclarativeBase):
    pass


class Counter(Base):
    __tablename__ = "counters"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]


class Counters:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def start(self, session: Session, name: str) -> None:
        session.add(Counter(name=name, value=0))

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


@pytest.fixture
def counters(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/test.db")
    Base.metadata.create_all(database.engine)
    counters = Counters(database)
    counters.start("a")
    yield counters
    database.close()


def test_a_failed_transaction_changes_nothing(counters):
    with pytest.raises(RuntimeError):
        counters.increase("a", fail=True)
    assert counters.value("a") == 0


def test_no_read_then_write_is_lost_among_threads(counters):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: counters.increase("a"), range(200)))
    assert counters.value("a") == 200


def test_sqlite_is_set_up_to_survive_a_crash(counters):
    def pragma(name: str) -> object:
        return counters.database.transact(
            lambda session: session.execute(text(f"PRAGMA {name}")).scalar()
        )

    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2  # FULL


def test_a_locked_database_says_busy(counters):
    impatient = Counters(Database(str(counters.database.engine.url)))
    impatient.value("a")
    impatient.database.transact(lambda session: session.execute(text("PRAGMA busy_timeout=20")))

    def meanwhile(session: Session) -> None:
        session.get_one(Counter, "a")
        with pytest.raises(BusyError, match="locked"):
            impatient.increase("a")

    counters.database.transact(meanwhile)
    assert impatient.increase("a") == 1
    impatient.database.close()
