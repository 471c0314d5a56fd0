"""CPU and memory of processes, from the kernel's own counters."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

INTERVAL_SECONDS = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")
_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True)
class Usage:
    """CPU since the process began; `rss` is the kernel's own peak, `pss` (memory that is shared is
    shared out) the largest that was seen, once a second."""

    cpu_seconds: float = 0.0
    rss_bytes: int = 0
    pss_bytes: int = 0

    def and_later(self, later: "Usage") -> "Usage":
        return Usage(
            max(self.cpu_seconds, later.cpu_seconds),
            max(self.rss_bytes, later.rss_bytes),
            max(self.pss_bytes, later.pss_bytes),
        )


def usage_of(process: Path) -> Usage:
    """`process` is its folder in /proc."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / _TICKS  # utime, stime
    rss = _kilobytes(process / "status", "VmHWM:")
    return Usage(cpu, rss, _kilobytes(process / "smaps_rollup", "Pss:"))


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted(int(child) for task in tasks for child in task.read_text().split())


def _kilobytes(file: Path, name: str) -> int:
    for line in file.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) << 10
    return 0


class Watch:
    """Looks at named processes, and at those that the aggregator has started."""

    def __init__(self, aggregator: int, others: dict[str, int]) -> None:
        self._aggregator = aggregator
        self._others = others
        self.usages: dict[str, Usage] = {}

    def look(self) -> None:
        named = {"aggregator": self._aggregator, **self._others}
        named |= {f"its child {i}": pid for i, pid in enumerate(children_of(self._aggregator), 1)}
        for name, pid in named.items():
            with suppress(*_GONE):
                known = self.usages.get(name, Usage())
                self.usages[name] = known.and_later(usage_of(Path(f"/proc/{pid}")))


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    enough = Event()

    def look_again_and_again() -> None:
        while not enough.wait(INTERVAL_SECONDS):
            watch.look()

    thread = Thread(target=look_again_and_again)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
