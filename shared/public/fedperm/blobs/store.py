"""What every blob store promises; tests/blobs holds each implementation to it."""

import re
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from fedperm.durable_file import TEMPORARY_SUFFIX
from fedperm.errors import BlobError, ParameterError

INCOMING = "incoming"
"""The folder of what is being received."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")


@dataclass(frozen=True)
class BlobRef:
    """Where a blob lies and what it contains. Jobs hold this and never a path: it can be pickled,
    and `registry.open_blob` reads through it in any process that reaches the store."""

    url: str
    sha256: str
    size: int


class Blob(Protocol):
    """A stored blob, for reading."""

    def read(self, start: int, length: int) -> bytes:
        """Exactly these bytes; a BlobError if the blob is missing or does not have them."""

    def view(self) -> memoryview:
        """The whole blob, mapped and not copied where the store can; a BlobError if it is missing
        or not of the size that the reference states. The digest is not checked."""


class BlobStore(Protocol):
    """Names are relative paths of letters, digits, `.`, `_` and `-`; no part begins with a dot. A
    folder is the beginning of names, up to a slash.

    A store that cannot be reached for now raises a ServiceError: jobs then wait, and are not
    charged. One that is full raises an OSError that `durable_file.says_disk_is_full`.
    """

    durable: bool
    """Whether what was kept or written is still there after a crash."""

    def ref(self, name: str, sha256: str, size: int) -> BlobRef:
        """The reference to a blob that was kept under this name."""

    def receive(
        self, body: AsyncIterator[bytes], size: int, idle_seconds: float
    ) -> AbstractAsyncContextManager[BlobRef]:
        """Stores exactly `size` bytes under a temporary name, hashed on the way and never whole in
        memory where the store can avoid it. After the block they are gone unless `keep` took them.
        Raises a BodyError for another length, or if nothing arrives for `idle_seconds`."""

    def keep(self, received: BlobRef, name: str) -> BlobRef:
        """Gives what was received its name, durably. The same bytes again do no harm."""

    def write(self, name: str, data: bytes) -> BlobRef:
        """Stores a whole blob, durably: after a crash it is there as a whole or not at all."""

    def remove(self, name: str) -> None:
        """No error if there is none."""

    def remove_all(self, folder: str) -> None:
        """Removes everything in a folder, durably."""

    def names(self, folder: str) -> list[str]:
        """All blobs in a folder, in order; without what was never finished."""

    def sweep(self, folder: str, needed: Collection[str]) -> int:
        """Removes what a crash left in a folder: all but the needed names. Returns the count."""

    def sweep_incoming(self) -> int:
        """Removes what was being received when a process ended. Returns the count."""

    def check_room(self, size: int) -> None:
        """Raises if `size` bytes could not be written now."""

    def alone(self, user: str) -> AbstractContextManager[None]:
        """Within the block no other process may use the store, since sweeps remove what others
        are receiving. Raises a SettingsError if one does; `user` is what the error calls it."""


def check_name(name: str) -> None:
    """Names of runs and clients are tame (`wire.message.Name`); this holds for any caller."""
    if not _NAME.fullmatch(name):
        raise ParameterError(f"not a blob name: {name!r}", "use a relative path without dots first")


def is_finished(name: str) -> bool:
    return not name.endswith(TEMPORARY_SUFFIX)


def check_range(ref: BlobRef, start: int, length: int) -> None:
    if not 0 <= start <= start + length <= ref.size:
        raise BlobError(
            f"a blob has {ref.size:,} bytes; bytes {start:,} to {start + length:,} were requested",
            "request a range within it",
        )


def missing() -> BlobError:
    return BlobError("a stored blob is missing", "check the disk or the object store")


def damaged() -> BlobError:
    return BlobError("a stored blob has changed since it was accepted", "check the disk")
