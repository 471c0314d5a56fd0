"""A bar, and how long it will take: by the work that was expected of what is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from experiments.paper.execution import Watch
from experiments.paper.measurement import Measurement
from experiments.paper.records import Record

_MEMORY_SECONDS = 900.0
"""The pace of the last quarter of an hour says how long the rest will take."""


@contextmanager
def shown(measurements: Sequence[Measurement], console: Console) -> Iterator[Watch]:
    total = sum(m.expected_seconds for m in measurements)
    with Progress(
        TextColumn("{task.fields[done]} of {task.fields[all]} measured"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("passed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        speed_estimate_period=_MEMORY_SECONDS,
    ) as progress:
        task = progress.add_task("", total=total, done=0, all=len(measurements))

        def watch(measurement: Measurement, record: Record) -> None:
            done = progress.tasks[task].fields["done"] + 1
            progress.update(task, advance=measurement.expected_seconds, done=done)
            progress.console.print(f"{record.name}: {_short(record)}", highlight=False)

        yield watch


def _short(record: Record) -> str:
    """Its numbers, without lists of them."""
    numbers = [
        f"{key} {value:.4g}" for key, value in record.result.items() if isinstance(value, float)
    ]
    return ", ".join([*numbers, f"{record.cpu_seconds:.1f} s CPU"])
