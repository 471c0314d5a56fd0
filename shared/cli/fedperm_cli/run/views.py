"""A run that is watched: lines for finished rounds, bars inside the one that is under way."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from fedperm.plain_text import one_line
from fedperm.wire.aggregator import RoundState
from fedperm_cli.measures import as_bytes, as_seconds
from fedperm_cli.pages import print_json
from fedperm_cli.run.pages import accuracy_words, loss_words
from fedperm_cli.run.round_progress import RoundProgress
from fedperm_cli.run.round_summary import RoundSummary
from fedperm_cli.run.watching import View


class Silence:
    """For a command that prints everything at its end."""

    def tell_progress(self, progress: RoundProgress) -> None:
        pass

    def tell_round(self, summary: RoundSummary) -> None:
        pass

    def tell_note(self, note: str) -> None:
        pass


class Lines(Silence):
    """For pipes: finished rounds only."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def tell_round(self, summary: RoundSummary) -> None:
        self._console.print(one_line(round_line(summary)), soft_wrap=True)

    def tell_note(self, note: str) -> None:
        self._console.print(one_line(note), soft_wrap=True)


class Bars(Lines):
    """For terminals: three bars below the lines, drawn when something happens."""

    def __init__(self, console: Console, bars: Progress) -> None:
        super().__init__(console)
        self._bars = bars
        self._rows: dict[str, TaskID] = {}

    def tell_progress(self, progress: RoundProgress) -> None:
        self._bars.start()  # not earlier: without rows it would draw empty lines
        number = f"round {progress.round:4}"
        self._draw("uploads in", number, progress.stored, progress.selected)
        self._draw("checked", number, progress.checked, progress.selected)
        self._draw("folded", number, progress.folded, progress.fold_jobs)
        self._bars.refresh()

    def _draw(self, what: str, number: str, done: int, total: int) -> None:
        words = f"{number}  {what:10}"
        if what not in self._rows:
            self._rows[what] = self._bars.add_task(words, total=total)
        self._bars.update(self._rows[what], description=words, completed=done, total=total)


class JsonLines(Silence):
    """For programs: one object a finished round."""

    def tell_round(self, summary: RoundSummary) -> None:
        print_json(json.dumps({"round": asdict(summary)}))

    def tell_note(self, note: str) -> None:
        print_json(json.dumps({"note": note}))


@contextmanager
def live_view(console: Console) -> Iterator[View]:
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
    )
    bars = Progress(*columns, console=console, transient=True, auto_refresh=False)
    try:
        yield Bars(console, bars)
    finally:
        bars.stop()


def round_line(summary: RoundSummary) -> str:
    head = f"round {summary.round:4}"
    if summary.state is RoundState.ABORTED:
        return f"{head}  aborted: {summary.reason}"
    parts = (
        f"{summary.included} of {summary.selected} clients",
        _quality(summary),
        f"{as_seconds(summary.total_seconds or 0.0):>7}",
        f"up {as_bytes(summary.bytes_up):>7}",
        f"down {as_bytes(summary.bytes_down):>7}",
        f"{summary.bounded} bounded" + (f", {summary.rejected} rejected" * bool(summary.rejected)),
    )
    return "  ".join([head, *parts])


def _quality(summary: RoundSummary) -> str:
    """In as many columns: a task of numbers instead of classes has a loss and no accuracy."""
    if summary.accuracies or summary.loss is None:
        return f"test accuracy {accuracy_words(summary):>6}"
    return f"test loss {loss_words(summary):>10}"
