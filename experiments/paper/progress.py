"""A bar, and how long it will take: by the work that was expected of what is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from experiments.paper.execution import Watch
from experiments.paper.measurement import Measurement
from experiments.paper.records import Record


class TimeLeft(ProgressColumn):
    """At the pace up to the last measurement that was finished; `pace` is seconds for a second
    that was expected."""

    def render(self, task: Task) -> Text:
        pace: float | None = task.fields["pace"]
        if pace is None or task.total is None or task.elapsed is None:
            return Text("-:--:--")
        return Text(str(timedelta(seconds=round(max(0.0, pace * task.total - task.elapsed)))))


@contextmanager
def shown(measurements: Sequence[Measurement], console: Console) -> Iterator[Watch]:
    total = sum(m.expected_seconds for m in measurements)
    with Progress(
        TextColumn("{task.fields[done]} of {task.fields[all]} measured"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("passed,"),
        TimeLeft(),
        TextColumn("left"),
        console=console,
    ) as progress:
        task = progress.add_task("", total=total, done=0, all=len(measurements), pace=None)

        def watch(measurement: Measurement, record: Record) -> None:
            state = progress.tasks[task]
            expected = state.completed + measurement.expected_seconds
            pace = (state.elapsed or 0.0) / expected
            progress.update(task, completed=expected, done=state.fields["done"] + 1, pace=pace)
            words = f"{measurement.part}: {record.name}: {_short(record)}"
            progress.console.print(words, highlight=False)

        yield watch


def _short(record: Record) -> str:
    """Its numbers, without lists of them."""
    numbers = [
        f"{key} {value:.4g}" for key, value in record.result.items() if isinstance(value, float)
    ]
    return ", ".join([*numbers, f"{record.cpu_seconds:.1f} s CPU"])
