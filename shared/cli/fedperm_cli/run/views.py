"""A run that is watched: lines for finished rounds, bars inside the one that is under way."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from fedperm.wire.aggregator import RoundState
from fedperm_cli.measures import as_bytes, as_seconds
from fedperm_cli.run.pages import accuracy_words
from fedperm_cli.run.round_progress import RoundProgress
from fedperm_cli.run.round_summary import RoundSummary
from fedperm_cli.run.watching import View


class Lines:
    """For pipes: finished rounds only."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def tell_progress(self, progress: RoundProgress) -> None:
        pass

    def tell_round(self, summary: RoundSummary) -> None:
        self._console.print(round_line(summary), soft_wrap=True, markup=False)

    def tell_note(self, note: str) -> None:
        self._console.print(note, soft_wrap=True, markup=False)


class Bars(Lines):
    """For terminals: three bars below the lines."""

    def __init__(self, console: Console, bars: Progress) -> None:
        super().__init__(console)
        self._bars = bars
        self._stored = bars.add_task("uploads in", total=None)
        self._checked = bars.add_task("checked", total=None)
        self._folded = bars.add_task("folded", total=None)

    def tell_progress(self, progress: RoundProgress) -> None:
        self._draw(self._stored, progress.round, progress.stored, progress.selected)
        self._draw(self._checked, progress.round, progress.checked, progress.selected)
        self._draw(self._folded, progress.round, progress.folded, progress.fold_jobs)

    def _draw(self, bar: TaskID, number: int, done: int, total: int) -> None:
        self._bars.update(bar, completed=done, total=total, round=number)


class JsonLines:
    """For programs: one object a finished round."""

    def tell_progress(self, progress: RoundProgress) -> None:
        pass

    def tell_round(self, summary: RoundSummary) -> None:
        typer.echo(json.dumps({"round": asdict(summary)}))

    def tell_note(self, note: str) -> None:
        typer.echo(json.dumps({"note": note}))


class Silence:
    """For a command that prints everything at its end."""

    def tell_progress(self, progress: RoundProgress) -> None:
        pass

    def tell_round(self, summary: RoundSummary) -> None:
        pass

    def tell_note(self, note: str) -> None:
        pass


@contextmanager
def live_view(console: Console) -> Iterator[View]:
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("round {task.fields[round]}"),
        TextColumn("{task.description:10}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        yield Bars(console, bars)


def round_line(summary: RoundSummary) -> str:
    head = f"round {summary.round:4}"
    if summary.state is RoundState.ABORTED:
        return f"{head}  aborted: {summary.reason}"
    parts = (
        f"{summary.included} of {summary.selected} clients",
        f"test accuracy {accuracy_words(summary):>6}",
        f"{as_seconds(summary.total_seconds or 0.0):>7}",
        f"up {as_bytes(summary.bytes_up):>7}",
        f"down {as_bytes(summary.bytes_down):>7}",
        f"{summary.bounded} bounded" + (f", {summary.rejected} rejected" * bool(summary.rejected)),
    )
    return "  ".join([head, *parts])
