"""Versions of tables: up and down in one transaction, nothing lost, nothing foreign touched."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError

from fedperm import migrations
from fedperm.database import Database, open_database, sqlite_url
from fedperm.engines import open_engine
from fedperm.errors import SettingsError
from fedperm.schema import bring_up_to_date, recorded_version
from tests.storage.broken_library import migrations as failing_revisions
from tests.storage.former_schema import FormerSchema
from tests.storage.library.migrations import SCHEMA

OLDER = FormerSchema(SCHEMA.program, SCHEMA.revisions)
SHELF = "INSERT INTO shelves VALUES ('a', 7)"
BOOK = "INSERT INTO books VALUES ('Emma', 'a')"
NO_SHELF = "INSERT INTO books VALUES ('Persuasion', 'b')"


@pytest.fixture
def database(database_url):
    database = Database(database_url)
    yield database
    database.close()


def run(database, *statements):
    with database.engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def rows(database, query):
    with database.engine.begin() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def tables(database):
    return set(inspect(database.engine).get_table_names())


def version(database, schema=SCHEMA):
    with database.engine.begin() as connection:
        return recorded_version(connection, schema)


def test_an_empty_database_gets_the_newest_tables(database):
    bring_up_to_date(database.engine, SCHEMA)
    assert version(database) == "0002"
    assert tables(database) == {"shelves", "books", "library_schema"}
    run(database, SHELF, BOOK)


def test_rows_go_with_their_tables_up_and_down(database):
    bring_up_to_date(database.engine, OLDER)
    run(database, SHELF, BOOK)
    bring_up_to_date(database.engine, SCHEMA)
    assert rows(database, "SELECT name, width_mm FROM shelves") == [("a", 7.0)]
    migrations.downgrade(database.engine, SCHEMA, "0001")
    assert version(database) == "0001"
    assert rows(database, "SELECT name, width FROM shelves") == [("a", 7)]
    assert rows(database, "SELECT * FROM books") == [("Emma", "a")]


def test_references_are_enforced_after_a_move_as_before(database):
    bring_up_to_date(database.engine, OLDER)
    bring_up_to_date(database.engine, SCHEMA)
    with pytest.raises(IntegrityError):
        run(database, NO_SHELF)


def test_down_to_the_base_nothing_is_left(database):
    bring_up_to_date(database.engine, SCHEMA)
    migrations.downgrade(database.engine, SCHEMA, "base")
    assert tables(database) == {"library_schema"}
    assert version(database) is None
    migrations.downgrade(database.engine, SCHEMA, "base")
    bring_up_to_date(database.engine, SCHEMA)
    assert version(database) == "0002"


def test_a_way_down_to_what_is_newer_leads_nowhere(database):
    bring_up_to_date(database.engine, OLDER)
    migrations.downgrade(database.engine, SCHEMA, "0002")
    assert version(database) == "0001"
    with pytest.raises(SettingsError, match="no version 0003"):
        migrations.downgrade(database.engine, SCHEMA, "0003")


def test_a_revision_that_fails_leaves_nothing_behind(database):
    with pytest.raises(RuntimeError):
        bring_up_to_date(database.engine, failing_revisions.SCHEMA)
    assert tables(database) == set()
    bring_up_to_date(database.engine, SCHEMA)


def test_a_database_from_before_versions_were_recorded_is_adopted(database):
    bring_up_to_date(database.engine, OLDER)
    run(database, "DROP TABLE library_schema", SHELF, BOOK)
    bring_up_to_date(database.engine, SCHEMA)
    assert version(database) == "0002"
    assert rows(database, "SELECT name, width_mm FROM shelves") == [("a", 7.0)]


def test_a_database_of_a_newer_program_is_refused(database):
    bring_up_to_date(database.engine, SCHEMA)
    run(database, SHELF)
    for _ in range(2):
        with pytest.raises(SettingsError, match=r"has version 0002 .* up to 0001 .*newer one"):
            bring_up_to_date(database.engine, OLDER)
    assert rows(database, "SELECT name, width_mm FROM shelves") == [("a", 7.0)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE letters (id INTEGER)",
        "CREATE TABLE shelves (name VARCHAR, width INTEGER)",
        "CREATE TABLE other_schema (version_num VARCHAR(32))",
    ],
    ids=["foreign", "half", "of another program"],
)
def test_a_database_that_is_not_ours_is_refused_and_not_touched(database, statement):
    run(database, statement)
    before = tables(database)
    with pytest.raises(SettingsError, match=r"not the library's .*not touched"):
        bring_up_to_date(database.engine, SCHEMA)
    assert tables(database) == before


def test_tables_of_the_same_names_with_other_columns_are_not_ours(database):
    run(
        database,
        "CREATE TABLE shelves (name VARCHAR, height INTEGER)",
        "CREATE TABLE books (title VARCHAR, shelf VARCHAR)",
    )
    with pytest.raises(SettingsError, match="not the library's"):
        bring_up_to_date(database.engine, SCHEMA)


def check_all_are_opened(urls):
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda url: open_database(url, SCHEMA), urls))
    for database in opened:
        assert version(database) == "0002"
        assert tables(database) == {"shelves", "books", "library_schema"}
        database.close()


def test_of_many_that_start_at_once_one_makes_the_tables(database_url):
    """In threads here; between processes the database's own lock does it."""
    check_all_are_opened([database_url] * 4)


def test_a_new_sqlite_file_is_opened_by_all_who_open_it_at_once(tmp_path):
    """Many files, since the moment in which two are in each other's way is short."""
    together = Barrier(8)

    def connect(number):
        engine = open_engine(sqlite_url(tmp_path / f"{number}.db"))
        together.wait()
        with engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        engine.dispose()
        return mode

    with ThreadPoolExecutor(8) as threads:
        modes = list(threads.map(connect, (number for number in range(60) for _ in range(8))))
    assert set(modes) == {"wal"}


def test_databases_that_are_moved_at_once_are_not_mixed_up(tmp_path):
    """Alembic has one way to the database for the whole process."""
    check_all_are_opened([sqlite_url(tmp_path / f"{i}.db") for i in range(32)])


def test_sqlite_rows_that_refer_to_nothing_stop_the_move(tmp_path):
    """Such rows can only come from outside: nothing of ours writes without references."""
    database = Database(sqlite_url(tmp_path / "test.db"))
    bring_up_to_date(database.engine, OLDER)
    driver = database.engine.raw_connection()
    driver.execute("PRAGMA foreign_keys=OFF")
    driver.execute(NO_SHELF)
    driver.execute("PRAGMA foreign_keys=ON")
    driver.close()
    with pytest.raises(SettingsError, match="rows that are missing"):
        bring_up_to_date(database.engine, SCHEMA)
    assert version(database) == "0001"
    database.close()


def test_a_database_that_is_up_to_date_needs_no_alembic(tmp_path):
    url = sqlite_url(tmp_path / "test.db")
    open_database(url, SCHEMA).close()
    code = (
        "import sys; from fedperm.database import open_database;"
        "from tests.storage.library.migrations import SCHEMA;"
        f"open_database({url!r}, SCHEMA).close(); sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
