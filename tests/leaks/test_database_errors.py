"""An error of the database goes to the log with its traceback: what was to be stored must not."""

import traceback
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, insert
from sqlalchemy.exc import IntegrityError

from fedperm.database import Database, sqlite_url

SECRET = "what a row holds"  # noqa: S105 (a test's own)


def test_an_error_does_not_repeat_the_row(tmp_path: Path):
    tables = MetaData()
    things = Table("things", tables, Column("id", Integer, primary_key=True), Column("x", String))
    database = Database(sqlite_url(tmp_path / "some.db"))
    tables.create_all(database.engine)
    row = insert(things).values(id=1, x=SECRET)
    database.transact(lambda session: session.execute(row))
    with pytest.raises(IntegrityError) as caught:
        database.transact(lambda session: session.execute(row))
    database.close()
    shown = "".join(traceback.format_exception(caught.value))
    assert "UNIQUE constraint failed" in shown
    assert SECRET not in shown
