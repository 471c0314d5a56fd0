"""Data files by name and hash: from the data directory, or fetched into it once."""

import gzip
import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from fedperm.durable_file import locked, write_durably
from fedperm_client.errors import TaskError

_TIMEOUT_SECONDS = 60

Fetch = Callable[[str], bytes]
"""From an address to what lies there."""


@dataclass(frozen=True)
class CompressedFile:
    """A gzip file, known by the SHA-256 of what it unpacks to: gzip writes a time of its own."""

    name: str
    sha256: str

    def read(self, folder: Path) -> bytes:
        """What is in it, if it is the expected."""
        path = folder / self.name
        try:
            content = gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise TaskError(f"{path} cannot be read: {error}", "fetch it again") from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise TaskError(
                f"{path} does not hold the data that it is named after",
                "remove it; it is fetched again, or copy the original there",
            )
        return content


def fetch_missing(
    folder: Path, files: tuple[CompressedFile, ...], mirror: str, fetch: Fetch
) -> None:
    """Fetches what is not there; clients that share a data directory take turns."""
    if all((folder / file.name).exists() for file in files):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock"):
        for file in files:
            if not (folder / file.name).exists():
                write_durably(folder / file.name, _fetched(mirror + file.name, folder, fetch))


def _fetched(address: str, folder: Path, fetch: Fetch) -> bytes:
    try:
        return fetch(address)
    except (URLError, TimeoutError) as error:
        raise TaskError(
            f"{address} cannot be fetched: {error}",
            f"check the network, or put the file into {folder.absolute()} yourself",
        ) from None


def fetch_over_https(address: str) -> bytes:
    with urlopen(address, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 (our own address)
        content: bytes = answer.read()
        return content
