"""One aggregator per state directory: a second one is refused before it touches anything."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedperm.errors import SettingsError


@contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """The lock is the process's: it is gone when the process is, however it ends."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SettingsError(
            f"another aggregator uses {folder}", "stop it, or choose another state directory"
        ) from None
