"""What text output is made of: aligned tables without frames, the same on a pipe."""

from collections.abc import Iterable

import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_WIDE = 1000
"""Columns of a pipe: rows are neither folded nor cut where a program reads them."""


def stdout() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def show(*parts: RenderableType) -> None:
    """One below the other. On a pipe lines have no blanks at their end."""
    console = stdout()
    if console.is_terminal:
        console.print(*parts, sep="\n", markup=False)
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n", markup=False, soft_wrap=True)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def listing(*headings: str, right: Iterable[str] = ()) -> Table:
    """A table of many things; the headings named in `right` head columns of numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in set(right) else "left")
    return table


def facts(*rows: tuple[str, str]) -> Table:
    """A table about one thing."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold")


def indented(line: str) -> Padding:
    return Padding(line, (0, 0, 0, 2))
