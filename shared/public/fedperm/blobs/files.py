"""Blobs as files below one folder: `file:///folder`.

What is received is durable under a temporary name before it gets its own:

temporary file -> fsync -> rename -> fsync of the folder
"""

import asyncio
import hashlib
import mmap
import os
import secrets
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from fedperm.blobs.intake import ExactHash, batches
from fedperm.blobs.store import (
    INCOMING,
    BlobRef,
    check_name,
    check_range,
    damaged,
    is_finished,
    missing,
)
from fedperm.crash_points import persisting
from fedperm.durable_file import (
    TEMPORARY_SUFFIX,
    create_exclusively,
    publish,
    settle,
    sync_folder,
    write_durably,
)
from fedperm.errors import SettingsError
from fedperm.state_folder import sole_user

_LOCK = ".blobs.lock"


class FileBlob:
    def __init__(self, ref: BlobRef) -> None:
        self._ref = ref

    def read(self, start: int, length: int) -> bytes:
        check_range(self._ref, start, length)
        with self._opened() as file:
            file.seek(start)
            data = file.read(length)
        if len(data) != length:
            raise damaged()
        return data

    def view(self) -> memoryview:
        """Mapped: the file is in the address space, not in memory."""
        with self._opened() as file:
            if os.fstat(file.fileno()).st_size != self._ref.size:
                raise damaged()
            if self._ref.size == 0:  # an empty file cannot be mapped
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _opened(self) -> BinaryIO:
        try:
            return path_of(self._ref.url).open("rb")
        except FileNotFoundError:
            raise missing() from None


class FileBlobStore:
    durable = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        _make_folder(self._folder / INCOMING)

    @classmethod
    def at(cls, url: str) -> "FileBlobStore":
        folder = path_of(url)
        try:
            return cls(folder)
        except OSError as error:
            raise SettingsError(
                f"the folder for blobs {folder} cannot be made: {error.strerror}",
                "choose another, or correct its permissions",
            ) from None

    def ref(self, name: str, sha256: str, size: int) -> BlobRef:
        return BlobRef(self._path(name).as_uri(), sha256, size)

    @asynccontextmanager
    async def receive(
        self, body: AsyncIterator[bytes], size: int, idle_seconds: float
    ) -> AsyncIterator[BlobRef]:
        """All work on the file is done in threads."""
        name = f"{INCOMING}/{secrets.token_hex(16)}{TEMPORARY_SUFFIX}"
        try:
            file = await asyncio.to_thread(create_exclusively, self._path(name))
            try:
                sink = Sink(file, size)
                async for batch in batches(body, idle_seconds):
                    await asyncio.to_thread(sink.write, batch)
                sha256 = await asyncio.to_thread(sink.finish)
            finally:
                await asyncio.to_thread(file.close)
            yield self.ref(name, sha256, size)
        finally:
            # also when the request is cancelled: what nobody kept must not stay
            await asyncio.shield(asyncio.to_thread(self.remove, name))

    @persisting
    def keep(self, received: BlobRef, name: str) -> BlobRef:
        path = self._path(name)
        _make_folder(path.parent)
        publish(path_of(received.url), path)
        return self.ref(name, received.sha256, received.size)

    @persisting
    def write(self, name: str, data: bytes) -> BlobRef:
        path = self._path(name)
        _make_folder(path.parent)
        write_durably(path, data)
        return self.ref(name, hashlib.sha256(data).hexdigest(), len(data))

    @persisting
    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    @persisting
    def remove_all(self, folder: str) -> None:
        """Also what was never finished."""
        _delete(self._files(folder))
        if self._path(folder).exists():
            sync_folder(self._path(folder))

    def names(self, folder: str) -> list[str]:
        names = (path.relative_to(self._folder).as_posix() for path in self._files(folder))
        return sorted(filter(is_finished, names))

    @persisting
    def sweep(self, folder: str, needed: Collection[str]) -> int:
        kept = {self._path(name) for name in needed}
        return _delete(path for path in self._files(folder) if path not in kept)

    @persisting
    def sweep_incoming(self) -> int:
        return _delete(self._files(INCOMING))

    def check_room(self, size: int) -> None:
        """Room is asked for, not looked up: what a file system says of its free space need not be
        true for this user."""
        with TemporaryFile(dir=self._folder / INCOMING) as file:
            os.posix_fallocate(file.fileno(), 0, size)

    def alone(self, user: str) -> AbstractContextManager[None]:
        return sole_user(self._folder, user, _LOCK)

    def _path(self, name: str) -> Path:
        check_name(name)
        return self._folder / name

    def _files(self, folder: str) -> list[Path]:
        return [path for path in self._path(folder).rglob("*") if path.is_file()]


class Sink:
    """A file that is filled with exactly `size` bytes."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._hash = ExactHash(size)

    @persisting
    def write(self, data: bytes) -> None:
        self._hash.update(data)
        self._file.write(data)

    @persisting
    def finish(self) -> str:
        """The SHA-256 of what is on the disk then."""
        sha256 = self._hash.digest()
        settle(self._file)
        return sha256


def path_of(url: str) -> Path:
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.scheme != "file" or parts.netloc or not path.is_absolute():
        raise SettingsError(f"not a URL of a file: {url}", "write file:///absolute/path")
    return path


def _make_folder(folder: Path) -> None:
    """With all above it, each durable in the one that holds it."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def _delete(paths: Iterable[Path]) -> int:
    doomed = list(paths)
    for path in doomed:
        path.unlink(missing_ok=True)
    return len(doomed)
