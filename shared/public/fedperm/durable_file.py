"""Files that are whole or absent after a crash: data, then name, then folder.

Until it has its name, a file has one that nobody can foresee, and it is made only where there is
nothing yet: whoever may write into the folder can plant no file and no link that would be written
through. Its mode is the one asked for, whatever the umask says.
"""

import errno
import fcntl
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fedperm.crash_points import passing

log = logging.getLogger(__name__)

TEMPORARY_SUFFIX = ".new"
"""A file that ends so was never finished, and may be swept."""
PRIVATE = 0o600

_UNFINISHED = re.compile(r".+\.[0-9a-f]{32}\.new")
"""As `_finishing` names them; other programs' files do not look like that."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def says_disk_is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _NO_ROOM


def write_durably(path: Path, data: bytes) -> None:
    """Replaces the file as a whole; durable before it returns."""
    with replacing(path) as file:
        file.write(data)


def create_durably(path: Path, data: bytes) -> None:
    """A new file, durable before it returns; FileExistsError if anything has its name."""
    with creating(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A new file that takes the name `path` when the block ends well, and is gone when not. A link
    of that name is replaced, not followed."""
    with _finishing(path, mode, publish) as file:
        yield file


@contextmanager
def creating(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """The same for a name that must be free, of links too: FileExistsError at the end if it is
    not, and what has it stays as it is."""
    with _finishing(path, mode, _publish_once) as file:
        yield file


@contextmanager
def _finishing(path: Path, mode: int, finish: Callable[[Path, Path], None]) -> Iterator[BinaryIO]:
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(16)}{TEMPORARY_SUFFIX}")
    try:
        with create_exclusively(temporary, mode) as file:
            yield file
            settle(file)
        finish(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def create_exclusively(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """Open for writing; FileExistsError if anything has the name, be it a link to nowhere."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    file = os.fdopen(os.open(path, flags, mode), "wb")
    os.fchmod(file.fileno(), mode)  # the umask has taken its part
    return file


def settle(file: BinaryIO) -> None:
    """Data on disk."""
    file.flush()
    os.fsync(file.fileno())


def publish(temporary: Path, path: Path) -> None:
    """Name on disk: from here on the file is found after a crash."""
    passing("unnamed")
    temporary.replace(path)
    sync_folder(path.parent)


def _publish_once(temporary: Path, path: Path) -> None:
    """A rename would replace what has the name, a link refuses. A crash between the two leaves the
    file with two names, of which one is swept."""
    passing("unnamed")
    path.hardlink_to(temporary)
    temporary.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_unfinished(folder: Path) -> None:
    """Removes what a crash left below a folder whose only user this process is. It would be in
    nobody's way, but may hold a secret."""
    for parent, _, names in os.walk(folder):
        for name in filter(_UNFINISHED.fullmatch, names):
            Path(parent, name).unlink(missing_ok=True)
            log.info("removed a file that was never finished", extra={"file": name})


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """The lock is the process's: it is gone when the process is, however it ends. BlockingIOError
    if another has it and `wait` is not wanted. The file is never written to, so a link of its name
    would do no harm to what it leads to; it is refused all the same."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)
