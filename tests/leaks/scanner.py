"""Looks for needles in files, databases and the memory of living processes."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.leaks.needles import Needle

CHUNK = 1 << 24
_ANCHOR = 8
"""Octets by which a needle is looked up, all needles at once; then it is compared as a whole."""

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)")


@dataclass(frozen=True)
class Hit:
    place: str
    secret: str
    form: str


@dataclass(frozen=True)
class Scan:
    """What was looked at, and what was found there."""

    place: str
    octets: int
    hits: frozenset[Hit]

    def __str__(self) -> str:
        return f"{self.place:<34} {self.octets / 1e6:9.3f} MB  {len(self.hits)} hits"

    @property
    def secrets(self) -> set[str]:
        return {hit.secret for hit in self.hits}


class Scanner:
    def __init__(self, needles: Iterable[Needle]) -> None:
        self._by_anchor: defaultdict[bytes, list[tuple[Needle, int]]] = defaultdict(list)
        self._overlap = 0
        for needle in needles:
            at = _anchor(needle)
            self._by_anchor[needle.octets[at : at + _ANCHOR]].append((needle, at))
            self._overlap = max(self._overlap, len(needle.octets) - 1)
        self._anchors = np.array([int.from_bytes(a, "little") for a in self._by_anchor], np.uint64)
        self._begins = np.zeros(1 << 16, bool)
        self._begins[(self._anchors & np.uint64(0xFFFF)).astype(np.intp)] = True

    def octets(self, place: str, pieces: Iterable[bytes]) -> Scan:
        """Pieces that follow each other: what lies across their ends is found too."""
        size, tail, found = 0, b"", set()
        for piece in pieces:
            size += len(piece)
            whole = tail + piece
            found |= {Hit(place, n.secret, n.form) for n in self._found(whole)}
            tail = whole[-self._overlap :]
        return Scan(place, size, frozenset(found))

    def file(self, path: Path) -> Scan:
        return self.octets(path.name, _pieces(path))

    def folder(self, path: Path) -> Scan:
        """All files below."""
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return together(f"files of {path.name}", [self.file(file) for file in files])

    def database(self, path: Path) -> Scan:
        """Every cell as SQLite reads it: in the file a long one is cut into pages."""
        return self.octets(f"rows of {path.name}", _cells(path))

    def process(self, pid: int) -> Scan:
        """Everything that it may have written. What it only reads from files is in the files."""
        scans = []
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for start, end in _written(pid):
                memory.seek(start)
                scans.append(self.octets(f"memory of {pid}", _chunks(memory, end - start)))
        return together(f"memory of {pid}", scans)

    def _found(self, data: bytes) -> Iterator[Needle]:
        """All anchors at once: two octets select, eight decide."""
        for parity in (0, 1):
            count = max(0, len(data) - parity) // 2
            pairs = np.frombuffer(data, "<u2", count, parity) if count > 3 else np.zeros(0, "<u2")
            starts = np.flatnonzero(self._begins[pairs[: max(0, count - 3)]])
            words = np.zeros(len(starts), np.uint64)
            for i in range(4):
                words |= pairs[starts + i].astype(np.uint64) << np.uint64(16 * i)
            for start in starts[np.isin(words, self._anchors)].tolist():
                yield from self._at(data, 2 * start + parity)

    def _at(self, data: bytes, place: int) -> Iterator[Needle]:
        for needle, at in self._by_anchor[data[place : place + _ANCHOR]]:
            if place >= at and data.startswith(needle.octets, place - at):
                yield needle


def _anchor(needle: Needle) -> int:
    """Where its least common octets begin. Memory is full of zeros, and so are arrays of small
    numbers in wide words."""
    places = range(len(needle.octets) - _ANCHOR + 1)
    return max(places, key=lambda place: _rarity(needle.octets[place : place + _ANCHOR]))


def _rarity(octets: bytes) -> tuple[bool, int, int]:
    """The first two octets select what is looked at."""
    return octets[0] != 0, len(set(octets) - {0}), max(octets)


def together(place: str, scans: Iterable[Scan]) -> Scan:
    scans = list(scans)
    hits = frozenset(hit for scan in scans for hit in scan.hits)
    return Scan(place, sum(scan.octets for scan in scans), hits)


def reason_not_to_read(pid: int) -> str | None:
    """Why the system forbids to read this process's memory; None if it does not."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb"):
            return None
    except OSError as error:
        return f"the system does not let tests read the memory of their children: {error.strerror}"


def _written(pid: int) -> Iterator[tuple[int, int]]:
    """Readable regions that are writable or belong to no file; neighbours as one."""
    regions: list[tuple[int, int]] = []
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        start, end, rights, file = _MAPPING.fullmatch(line).groups()
        if rights[0] != "r" or (rights[1] != "w" and file) or file.startswith("[v"):
            continue
        if regions and regions[-1][1] == int(start, 16):
            regions[-1] = (regions[-1][0], int(end, 16))
        else:
            regions.append((int(start, 16), int(end, 16)))
    yield from regions


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            yield piece


def _chunks(memory, size: int) -> Iterator[bytes]:
    """A region that goes away meanwhile, or that nobody may read, ends early."""
    while size > 0:
        try:
            piece = memory.read(min(size, CHUNK))
        except OSError:
            return
        if not piece:
            return
        size -= len(piece)
        yield piece


def _cells(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        named = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in named:
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 (its own names)
                for cell in row:
                    yield (cell if isinstance(cell, bytes) else str(cell).encode()) + b"\n"
