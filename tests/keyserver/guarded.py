"""A key server's database under its guard, for tests that use the stores alone."""

from fedperm.database import Database, open_database
from fedperm_keyserver.marks import IntegrityKey
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.stores.guard import Guard, IntegrityStore, Marks

MARKS = Marks(b"wrapped", IntegrityKey(bytes(range(32))))


def open_guarded(url: str) -> Database:
    """Every call is another process."""
    database = open_database(url, SCHEMA)
    IntegrityStore(database).keep(MARKS, None)
    Guard(MARKS).watch(database)
    return database
