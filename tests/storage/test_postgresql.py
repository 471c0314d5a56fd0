"""PostgreSQL's own troubles: undone transactions, lost connections, a server that is not there."""

import time

import pytest
from sqlalchemy import text

from fedperm.database import MOST_ATTEMPTS, Database, open_database
from fedperm.errors import BusyError, SettingsError, StorageFullError
from tests.storage.library.migrations import SCHEMA

PATIENCE_SECONDS = 10


@pytest.fixture
def database(postgresql):
    database = Database(postgresql.new_database())
    yield database
    database.close()


def scalar(database, statement):
    return database.transact(lambda session: session.execute(text(statement)).scalar())


class Trouble:
    """Work that PostgreSQL itself ends with an error, so many times."""

    def __init__(self, code: str, times: int) -> None:
        self._statement = text(f"DO $$BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END$$")
        self._times = times
        self.attempts = 0

    def __call__(self, session) -> int:
        self.attempts += 1
        if self.attempts <= self._times:
            session.execute(self._statement)
        return session.execute(text("SELECT 4711")).scalar()


@pytest.mark.parametrize("code", ["40001", "40P01"], ids=["serialization", "deadlock"])
def test_what_was_undone_is_done_again(database, code):
    trouble = Trouble(code, times=MOST_ATTEMPTS - 1)
    assert database.transact(trouble) == 4711
    assert trouble.attempts == MOST_ATTEMPTS


def test_what_is_undone_again_and_again_is_given_up(database):
    trouble = Trouble("40001", times=1000)
    with pytest.raises(BusyError):
        database.transact(trouble)
    assert trouble.attempts == MOST_ATTEMPTS


def test_a_full_disk_is_said_at_once(database):
    trouble = Trouble("53100", times=1000)
    with pytest.raises(StorageFullError):
        database.transact(trouble)
    assert trouble.attempts == 1


def test_a_connection_that_is_cut_is_replaced(database):
    with pytest.raises(BusyError, match="does not answer"):
        scalar(database, "SELECT pg_terminate_backend(pg_backend_pid())")
    assert scalar(database, "SELECT 1") == 1


def test_a_server_that_was_restarted_is_found_again(database, postgresql):
    assert scalar(database, "SELECT 1") == 1
    postgresql.stop()
    with pytest.raises(BusyError, match="does not answer"):
        scalar(database, "SELECT 1")
    postgresql.start()
    assert scalar(database, "SELECT 1") == 1


def test_whoever_stands_still_in_a_transaction_loses_its_turn(database, postgresql):
    def stand_still(session) -> None:
        session.execute(text("SET idle_in_transaction_session_timeout = 10"))
        pid = session.execute(text("SELECT pg_backend_pid()")).scalar()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while postgresql.has_backend(pid):
            assert time.monotonic() < deadline, "it still has its turn"
            time.sleep(0.01)
        session.execute(text("SELECT 1"))

    assert scalar(database, "SHOW idle_in_transaction_session_timeout") == "30s"
    with pytest.raises(BusyError):
        database.transact(stand_still)
    assert scalar(database, "SELECT 1") == 1


def test_a_start_without_its_server_says_why_and_no_password():
    url = "postgresql+psycopg://postgres:hunter2@/postgres?host=/nonexistent"
    with pytest.raises(SettingsError, match="No such file") as caught:
        open_database(url, SCHEMA)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql+pg8000://me:hunter2@host/db", r"not installed: pg8000.*fedperm\[postgres\]"),
        ("mysql://me:hunter2@host/db", "mysql is not supported"),
        ("me:hunter2@host/db", "ArgumentError"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused(url, said):
    with pytest.raises(SettingsError, match=said) as caught:
        open_database(url, SCHEMA)
    assert "hunter2" not in str(caught.value)
