"""Bulk data as files, named so that nothing is ever written over.

incoming/                               being received; swept at the start
runs/RUN/initial-model.safetensors
runs/RUN/rounds/N/uploads/CLIENT.SHA256.safetensors
runs/RUN/rounds/N/aggregate.SHA256.safetensors
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from fedperm.crash_points import persisting
from fedperm.durable_file import TEMPORARY_SUFFIX, publish, sync_folder, write_durably

_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class PublishedFile:
    """A file that never changes, and its SHA-256."""

    path: Path
    sha256: str


class Blobs:
    """Names of runs and clients are tame (`wire.message.Name`), so they can stand in paths."""

    def __init__(self, folder: Path) -> None:
        self._incoming = folder / "incoming"
        self._runs = folder / "runs"
        for place in (self._incoming, self._runs):
            _make_folder(place)

    def temporary(self) -> Path:
        """A name that nobody else uses."""
        return self._incoming / (secrets.token_hex(16) + TEMPORARY_SUFFIX)

    def initial_model(self, run: str) -> Path:
        return self._runs / run / f"initial-model{_SUFFIX}"

    def upload(self, run: str, number: int, client: str, sha256: str) -> Path:
        return self._uploads(run, number) / f"{client}.{sha256}{_SUFFIX}"

    def aggregate(self, run: str, number: int, sha256: str) -> Path:
        return self._round(run, number) / f"aggregate.{sha256}{_SUFFIX}"

    @persisting
    def keep(self, temporary: Path, path: Path) -> None:
        """The received file under its own name, durably; the same bytes twice are no harm."""
        _make_folder(path.parent)
        publish(temporary, path)

    def check_room(self, octets: int) -> None:
        """Raises if so much could not be written now. Room is asked for, not looked up: what a
        file system says of its free space need not be true for this user."""
        with TemporaryFile(dir=self._incoming) as file:
            os.posix_fallocate(file.fileno(), 0, octets)

    @persisting
    def write_aggregate(self, run: str, number: int, sha256: str, body: bytes) -> Path:
        path = self.aggregate(run, number, sha256)
        _make_folder(path.parent)
        write_durably(path, body)
        return path

    @persisting
    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    @persisting
    def scrub(self, run: str, number: int) -> None:
        """Every upload of a round, also one whose row was never written."""
        folder = self._uploads(run, number)
        for path in folder.glob("*"):
            path.unlink(missing_ok=True)
        if folder.exists():
            sync_folder(folder)

    @persisting
    def sweep_incoming(self) -> int:
        """What was being received when the process ended."""
        return _delete(self._incoming.glob("*"))

    @persisting
    def sweep_run(self, run: str, needed: set[Path]) -> int:
        """All files of a run that no row refers to."""
        files = (path for path in (self._runs / run).rglob("*") if path.is_file())
        return _delete(path for path in files if path not in needed)

    def _round(self, run: str, number: int) -> Path:
        return self._runs / run / "rounds" / str(number)

    def _uploads(self, run: str, number: int) -> Path:
        return self._round(run, number) / "uploads"


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
