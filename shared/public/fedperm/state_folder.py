"""A program's own folder: closed to others, and used by one process at a time.

One that is there already may have been made by somebody else, or open to others. Ours is closed,
and the log says so; one of another user's is refused, since its owner can put anything into it.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fedperm.durable_file import locked, sweep_unfinished
from fedperm.errors import SettingsError

log = logging.getLogger(__name__)

OTHERS = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITING = stat.S_IWGRP | stat.S_IWOTH


def make_state_folder(folder: Path) -> None:
    try:
        make_own_folder(folder)
    except OSError as error:
        raise SettingsError(
            f"the state directory {folder} cannot be made: {error.strerror}",
            "choose another, or correct its permissions",
        ) from None


def make_own_folder(folder: Path, closed_to: int = OTHERS) -> None:
    """`closed_to` are the permissions that nobody may have but its owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_link(folder)
    _close(folder, closed_to)


@contextmanager
def sole_user(folder: Path, program: str, name: str = ".lock") -> Iterator[None]:
    """What a crash left unfinished is removed. `name` is the lock file's."""
    make_state_folder(folder)
    with ExitStack() as lock:
        try:
            lock.enter_context(locked(folder / name, wait=False))
        except BlockingIOError:
            raise SettingsError(
                f"another {program} uses {folder}", f"stop it, or give each {program} its own"
            ) from None
        sweep_unfinished(folder)
        yield


def _check_link(folder: Path) -> None:
    """In a folder where everybody may write, such as /tmp, a link can be anybody's."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) and found.st_uid not in {0, os.geteuid()}:
        raise _foreign(folder, "is a link of another user's")


def _close(folder: Path, closed_to: int) -> None:
    """By its descriptor: the name may lead elsewhere a moment later."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise _foreign(folder, "belongs to another user")
        mode = stat.S_IMODE(found.st_mode)
        if mode & closed_to:
            os.fchmod(descriptor, mode & ~closed_to)
            log.warning(
                "closed a folder that was open to others",
                extra={"folder": str(folder), "mode": f"{mode:o}"},
            )
    finally:
        os.close(descriptor)


def _foreign(folder: Path, why: str) -> SettingsError:
    return SettingsError(
        f"the folder {folder} {why}",
        "give it to the user who runs this program, or name one within it, which is then made",
    )
