"""A program's own folder: made for its owner only, and used by one process at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedperm.errors import SettingsError


def make_state_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"the state directory {folder} cannot be made: {error.strerror}",
            "choose another, or correct its permissions",
        ) from None


@contextmanager
def sole_user(folder: Path, program: str, name: str = ".lock") -> Iterator[None]:
    """The lock is the process's: it is gone when the process is, however it ends. `name` is the
    lock file's."""
    make_state_folder(folder)
    with (folder / name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingsError(
                f"another {program} uses {folder}", f"stop it, or give each {program} its own"
            ) from None
        yield
