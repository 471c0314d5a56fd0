"""Blobs in the memory of one process: `memory://name`. For tests; nothing survives the process."""

import hashlib
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

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
from fedperm.durable_file import TEMPORARY_SUFFIX

_stores: "WeakValueDictionary[str, MemoryBlobStore]" = WeakValueDictionary()
"""By name: a reference holds a URL only, and is opened through this."""


class MemoryBlob:
    def __init__(self, ref: BlobRef) -> None:
        self._ref = ref

    def read(self, start: int, length: int) -> bytes:
        check_range(self._ref, start, length)
        return bytes(self.view()[start : start + length])

    def view(self) -> memoryview:
        parts = urlsplit(self._ref.url)
        store = _stores.get(parts.netloc)
        data = None if store is None else store.blobs.get(parts.path.removeprefix("/"))
        if data is None:
            raise missing()
        if len(data) != self._ref.size:
            raise damaged()
        return memoryview(data)


class MemoryBlobStore:
    """Two of the same name are not the same: a reference is opened in the newer one."""

    durable = False

    def __init__(self, name: str) -> None:
        check_name(name)
        self._name = name
        self.blobs: dict[str, bytes] = {}
        _stores[name] = self

    @classmethod
    def at(cls, url: str) -> "MemoryBlobStore":
        """The store of this URL, as long as somebody holds it."""
        name = urlsplit(url).netloc
        return _stores.get(name) or cls(name)

    def ref(self, name: str, sha256: str, size: int) -> BlobRef:
        check_name(name)
        return BlobRef(f"memory://{self._name}/{name}", sha256, size)

    @asynccontextmanager
    async def receive(
        self, body: AsyncIterator[bytes], size: int, idle_seconds: float
    ) -> AsyncIterator[BlobRef]:
        name = f"{INCOMING}/{secrets.token_hex(16)}{TEMPORARY_SUFFIX}"
        exact, received = ExactHash(size), bytearray()
        try:
            async for batch in batches(body, idle_seconds):
                exact.update(batch)
                received += batch
            sha256 = exact.digest()
            self.blobs[name] = bytes(received)
            yield self.ref(name, sha256, size)
        finally:
            self.remove(name)

    def keep(self, received: BlobRef, name: str) -> BlobRef:
        return self.write(name, bytes(MemoryBlob(received).view()))

    def write(self, name: str, data: bytes) -> BlobRef:
        ref = self.ref(name, hashlib.sha256(data).hexdigest(), len(data))
        self.blobs[name] = data
        return ref

    def remove(self, name: str) -> None:
        check_name(name)
        self.blobs.pop(name, None)

    def remove_all(self, folder: str) -> None:
        self.sweep(folder, ())

    def names(self, folder: str) -> list[str]:
        check_name(folder)
        return sorted(n for n in self.blobs if n.startswith(f"{folder}/") and is_finished(n))

    def sweep(self, folder: str, needed: Collection[str]) -> int:
        check_name(folder)
        doomed = [n for n in self.blobs if n.startswith(f"{folder}/") and n not in needed]
        for name in doomed:
            self.remove(name)
        return len(doomed)

    def sweep_incoming(self) -> int:
        return self.sweep(INCOMING, ())

    def check_room(self, size: int) -> None:
        """There is room until the process has none."""

    def alone(self, user: str) -> AbstractContextManager[None]:  # noqa: ARG002 (nobody else can)
        return nullcontext()
