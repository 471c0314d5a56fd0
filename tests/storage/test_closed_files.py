"""A database of SQLite is for its owner only, with all that lies beside it."""

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import text

from fedperm.database import Database, sqlite_url
from fedperm.errors import SettingsError
from tests.storage.test_state_folder import NOBODY

BESIDE = ("", "-wal", "-shm")


def modes(file: Path) -> list[int]:
    files = [file.with_name(file.name + suffix) for suffix in BESIDE]
    return [stat.S_IMODE(one.stat().st_mode) for one in files if one.exists()]


def write(file: Path) -> Database:
    database = Database(sqlite_url(file))
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS secrets (secret TEXT)"))
        connection.execute(text("INSERT INTO secrets VALUES ('x')"))
    return database


@pytest.fixture
def _open_handed():
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_open_handed")
def test_it_is_closed_whatever_the_umask_says(tmp_path):
    database = write(tmp_path / "server.db")
    assert modes(tmp_path / "server.db") == [0o600] * 3
    database.close()


@pytest.mark.usefixtures("_open_handed")
def test_one_that_was_left_open_is_closed(tmp_path):
    """As an earlier version left it, in the middle of its work."""
    file = tmp_path / "server.db"
    first = write(file)
    for suffix in BESIDE:
        file.with_name(file.name + suffix).chmod(0o644)
    second = write(file)
    assert modes(file) == [0o600] * 3
    for database in (first, second):
        database.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_one_of_another_users_that_is_open_to_others_is_refused():
    with TemporaryDirectory() as folder:
        file = Path(folder) / "server.db"
        write(file).close()
        Path(folder).chmod(0o755)
        file.chmod(0o644)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(SettingsError, match="belongs to another user"):
                Database(sqlite_url(file))
        finally:
            os.seteuid(0)
        assert modes(file)[0] == 0o644
