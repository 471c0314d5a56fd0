"""What text output is made of: aligned tables without frames, the same on a pipe.

Much of what is printed was written by servers and clients, who may be hostile: nothing of it is
markup, and nothing of it reaches a terminal that would obey it (`fedperm.plain_text`).
"""

from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from fedperm.plain_text import one_line, visible, visible_json

_WIDE = 1000
"""Columns of a pipe: rows are neither folded nor cut where a program reads them."""


class PlainConsole(Console):
    """All text is what it says: styles are given beside it, and are the only sequences that a
    terminal receives."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def stdout() -> Console:
    console = PlainConsole()
    return console if console.is_terminal else PlainConsole(width=_WIDE)


def stderr() -> Console:
    return PlainConsole(stderr=True, soft_wrap=True)


def print_text(text: str) -> None:
    """As it is, but for what a terminal would obey."""
    typer.echo(visible(text))


def print_json(text: str) -> None:
    typer.echo(visible_json(text))


def show(*parts: RenderableType) -> None:
    """One below the other. On a pipe lines have no blanks at their end."""
    console = stdout()
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n", soft_wrap=True)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


class Listing(Table):
    """A row is one line, whoever wrote what is in it."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*map(_on_one_line, cells), **options)


def _on_one_line(cell: RenderableType | None) -> RenderableType | None:
    match cell:
        case str():
            return one_line(cell)
        case Text():
            return Text(one_line(cell.plain), style=cell.style)
        case _:
            return cell


def listing(*headings: str, right: Iterable[str] = ()) -> Table:
    """A table of many things; the headings named in `right` head columns of numbers."""
    table = Listing(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in set(right) else "left")
    return table


def facts(*rows: tuple[str, str]) -> Table:
    """A table about one thing."""
    table = Listing(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold")


def warning_lines(warnings: Iterable[str]) -> list[str]:
    return [f"warning: {warning}" for warning in warnings]


def indented(line: str) -> Padding:
    return Padding(line, (0, 0, 0, 2))
