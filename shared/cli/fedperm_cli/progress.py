"""How far a long command is, on stderr and only where somebody looks at it.

The bar is drawn when a step is reported and never in between: a drawing thread would spend
the very CPU time that is being measured.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Steps(Protocol):
    """Receives the phases of a command and the steps within each."""

    def begin(self, phase: str, steps: int) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


class Silent:
    """For pipes and tests."""

    def begin(self, phase: str, steps: int) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass


class TerminalBar:
    """One line a phase, with an estimate of the time left."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._phase: TaskID | None = None

    def begin(self, phase: str, steps: int) -> None:
        self._phase = self._bar.add_task(phase, total=steps)
        self._bar.refresh()

    def advance(self, steps: int = 1) -> None:
        if self._phase is not None:
            self._bar.advance(self._phase, steps)
            self._bar.refresh()


@contextmanager
def steps_on(console: Console) -> Iterator[Steps]:
    """A bar if the console is a terminal, else silence."""
    if not console.is_terminal:
        yield Silent()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, auto_refresh=False) as bar:
        yield TerminalBar(bar)
