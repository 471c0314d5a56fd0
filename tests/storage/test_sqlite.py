"""SQLite: set up to survive a crash, and a full disk in words."""

import pytest
from sqlalchemy import text

from fedperm.database import Database, sqlite_url
from fedperm.errors import StorageFullError


@pytest.fixture
def database(tmp_path):
    database = Database(sqlite_url(tmp_path / "test.db"))
    yield database
    database.close()


def scalar(database, statement):
    return database.transact(lambda session: session.execute(text(statement)).scalar())


def test_it_is_set_up_to_survive_a_crash(database):
    assert scalar(database, "PRAGMA journal_mode") == "wal"
    assert scalar(database, "PRAGMA synchronous") == 2  # FULL


def test_a_full_disk_is_said(database):
    database.transact(lambda session: session.execute(text("CREATE TABLE data (octets BLOB)")))
    scalar(database, "PRAGMA max_page_count = 10")
    with pytest.raises(StorageFullError):
        database.transact(
            lambda session: session.execute(text("INSERT INTO data VALUES (zeroblob(100000))"))
        )
    assert scalar(database, "SELECT count(*) FROM data") == 0
