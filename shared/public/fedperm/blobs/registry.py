"""Blob stores and stored blobs by the scheme of their URLs."""

from collections.abc import Callable
from dataclasses import dataclass

from fedperm.blobs.files import FileBlob, FileBlobStore
from fedperm.blobs.memory import MemoryBlob, MemoryBlobStore
from fedperm.blobs.store import Blob, BlobRef, BlobStore
from fedperm.scheme_registry import SchemeRegistry


@dataclass(frozen=True)
class BlobScheme:
    """`open_blob` needs nothing but the reference: a worker process has no store."""

    open_store: Callable[[str], BlobStore]
    open_blob: Callable[[BlobRef], Blob]


BLOB_SCHEMES = SchemeRegistry(
    "blob store",
    {
        "file": BlobScheme(FileBlobStore.at, FileBlob),
        "memory": BlobScheme(MemoryBlobStore.at, MemoryBlob),
    },
)


def open_store(url: str) -> BlobStore:
    return BLOB_SCHEMES.find(url).open_store(url)


def open_blob(ref: BlobRef) -> Blob:
    return BLOB_SCHEMES.find(ref.url).open_blob(ref)
