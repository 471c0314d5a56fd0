"""A database with its tables."""

from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from fedperm.database import Database
from fedperm.errors import SettingsError
from fedperm_keyserver.tables import Base

_FILE_NAME = "keyserver.db"


def sqlite_in(folder: Path) -> str:
    """The URL of the database in a folder, which is made for its owner only."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"the state directory {folder} cannot be made: {error.strerror}",
            "choose another, or correct its permissions",
        ) from None
    return URL.create("sqlite", database=str(folder / _FILE_NAME)).render_as_string()


def open_database(url: str) -> Database:
    """Its URL may hold a password and is not repeated."""
    try:
        database = Database(url)
        Base.metadata.create_all(database.engine)
    except (SQLAlchemyError, ImportError) as error:
        raise SettingsError(
            f"the database cannot be opened: {type(error).__name__}",
            "check the database URL, or the permissions of the state directory",
        ) from error
    return database
