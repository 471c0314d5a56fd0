"""Files that are whole or absent after a crash: data, then name, then folder."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fedperm.crash_points import passing

TEMPORARY_SUFFIX = ".new"
"""A file that ends so was never finished, and may be swept."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def says_disk_is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _NO_ROOM


def write_durably(path: Path, data: bytes) -> None:
    """Replaces the file as a whole; durable before it returns."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file that takes the name `path` when the block ends well, and is gone when not."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            settle(file)
        publish(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def settle(file: BinaryIO) -> None:
    """Data on disk."""
    file.flush()
    os.fsync(file.fileno())


def publish(temporary: Path, path: Path) -> None:
    """Name on disk: from here on the file is found after a crash."""
    passing("unnamed")
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
