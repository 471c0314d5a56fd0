"""Measuring what is not measured yet: in a few processes, each result kept at once."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from experiments.paper.measurement import Measurement
from experiments.paper.origin import command_line, origin_here
from experiments.paper.records import Record, ResultFile, read, write
from fedperm.state_folder import sole_user

PROGRAM = "experiments.paper"
Watch = Callable[[Measurement, Record], None]


def missing(measurements: Sequence[Measurement], folder: Path) -> list[Measurement]:
    """In the order of the plan."""
    files = {part: read(folder, part) for part in {m.part for m in measurements}}
    return [m for m in measurements if not files[m.part].holds(m)]


def forget_other_code(measurements: Sequence[Measurement], folder: Path) -> None:
    """What older code measured says nothing about this code."""
    commit = origin_here(command_line()).commit
    _keep(measurements, folder, lambda results: results.of_commit(commit))


def forget_other_plans(measurements: Sequence[Measurement], folder: Path) -> None:
    """What was taken out of the plan would be in no table."""
    names = {measurement.name for measurement in measurements}
    _keep(measurements, folder, lambda results: results.of_names(names))


def _keep(
    measurements: Sequence[Measurement], folder: Path, some: Callable[[ResultFile], ResultFile]
) -> None:
    with sole_user(folder, PROGRAM):
        for part in {measurement.part for measurement in measurements}:
            if (results := read(folder, part)).records:
                write(folder, some(results))


def execute(
    measurements: Sequence[Measurement], folder: Path, data: Path, processes: int, watch: Watch
) -> None:
    """Those that need the machine to themselves come last, one by one."""
    together = [m for m in measurements if not m.alone]
    apart = [m for m in measurements if m.alone]
    origin = origin_here(command_line())
    with sole_user(folder, PROGRAM):
        for some, workers in ((together, processes), (apart, 1)):
            for number, record in _records(some, data, workers):
                part = some[number].part
                write(folder, read(folder, part).with_record(record, origin))
                watch(some[number], record)


def _records(
    measurements: Sequence[Measurement], data: Path, processes: int
) -> Iterator[tuple[int, Record]]:
    """As they are finished. Leaving the pool, be it by Ctrl-C, ends its processes."""
    if not measurements:
        return
    # one thread makes sums come out alike everywhere; torch reads this when it is imported, and
    # its threads do not survive a fork
    os.environ["OMP_NUM_THREADS"] = "1"
    with get_context("spawn").Pool(min(processes, len(measurements)), _ignore_ctrl_c) as pool:
        yield from pool.imap_unordered(partial(_run, data=data), enumerate(measurements))


def _ignore_ctrl_c() -> None:
    """The parent answers it, and ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(numbered: tuple[int, Measurement], data: Path) -> tuple[int, Record]:
    number, measurement = numbered
    before = _cpu_seconds()
    result = measurement.run(data)
    return number, Record(
        name=measurement.name,
        settings=measurement.settings,
        result=result,
        finished_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        cpu_seconds=round(_cpu_seconds() - before, 2),
        origin=0,
    )


def _cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
