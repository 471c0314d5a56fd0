"""Clocks, and the cost of one modular multiplication on this machine."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.schemes.scheme import PublicKey as AnyPublicKey
from fedperm_cli.progress import Steps

T = TypeVar("T")

MULTIPLICATIONS_PER_BATCH = 2000
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""getrusage counts bytes on macOS and kilobytes on Linux."""


@dataclass(frozen=True)
class Clock:
    """CPU seconds of this process and seconds on the wall."""

    cpu: Callable[[], float] = time.process_time
    wall: Callable[[], float] = time.perf_counter


@dataclass(frozen=True)
class Instruments:
    """What every measurement needs from outside."""

    clock: Clock
    randomness: Random
    steps: Steps


@dataclass(frozen=True)
class Timed(Generic[T]):
    """What an action gave and cost."""

    result: T
    cpu_seconds: float
    wall_seconds: float


def timed(clock: Clock, action: Callable[[], T]) -> Timed[T]:
    cpu, wall = clock.cpu(), clock.wall()
    result = action()
    return Timed(result, clock.cpu() - cpu, clock.wall() - wall)


class ModularMultiplication:
    """a * b % n^2 of two random residues: the unit in which aggregation is counted.

    The same two all the time, so that both stay in the processor's cache: the least time that
    a multiplication takes here, and so the strictest unit.
    """

    def __init__(self, key: AnyPublicKey, instruments: Instruments) -> None:
        if not isinstance(key, PublicKey):
            raise TypeError("python-paillier is compared with Paillier's scheme only")
        self._n_squared = key.n_squared
        self._clock = instruments.clock
        self._a, self._b = (key.draw_residue(instruments.randomness) for _ in range(2))

    def batches(self, count: int) -> list[float]:
        """CPU seconds for one multiplication, batch by batch."""
        return [
            timed(self._clock, self._multiply).cpu_seconds / MULTIPLICATIONS_PER_BATCH
            for _ in range(count)
        ]

    def _multiply(self) -> None:
        n_squared, a, b = self._n_squared, self._a, self._b
        for _ in range(MULTIPLICATIONS_PER_BATCH):
            a * b % n_squared


def peak_rss_bytes(processes: int) -> int:
    """An upper bound for all processes together, to be asked after the workers have ended.

    Every worker is taken to have been as large as the largest, and all at the same moment as
    this process. A worker's own peak counts the moment before it was started afresh too, when
    it still was a copy of this process.
    """
    largest_worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * MAXRSS_UNIT
    return own_peak_bytes() + processes * largest_worker


def own_peak_bytes(status: Path = Path("/proc/self/status")) -> int:
    """Not by getrusage where there is /proc: it also counts whoever started this process, in the
    moment between fork and exec."""
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT
