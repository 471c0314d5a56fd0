"""Blob stores and stored blobs by the scheme of their URLs."""

from collections.abc import Callable
from dataclasses import dataclass

from fedperm.blobs.files import FileBlob, FileBlobStore
from fedperm.blobs.memory import MemoryBlob, MemoryBlobStore
from fedperm.blobs.store import Blob, BlobRef, BlobStore
from fedperm.registry import UrlRegistry


@dataclass(frozen=True)
class BlobBackend:
    """`open_blob` needs nothing but the reference: a worker process has no store."""

    open_store: Callable[[str], BlobStore]
    open_blob: Callable[[BlobRef], Blob]


BLOB_BACKENDS = UrlRegistry(
    "blob store",
    {
        "file": BlobBackend(FileBlobStore.at, FileBlob),
        "memory": BlobBackend(MemoryBlobStore.at, MemoryBlob),
    },
)


def open_store(url: str) -> BlobStore:
    return BLOB_BACKENDS.of_url(url).open_store(url)


def open_blob(ref: BlobRef) -> Blob:
    return BLOB_BACKENDS.of_url(ref.url).open_blob(ref)
