"""Which model, and of which task."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fedperm.ids import RunName
from fedperm_cli.names import checked_name
from fedperm_cli.task.options import TaskOptions

ModelPlace = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="A model's or checkpoint's file, or a client's state directory.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions(TaskOptions):
    run: Annotated[
        RunName | None,
        typer.Option(
            metavar="RUN",
            parser=checked_name,
            show_default="the only one",
            help="Which run of the client.",
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(
            envvar="FEDPERM_TASK",
            show_default=False,
            help="What was trained: digits, mnist, synthetic or path.py:Class.",
        ),
    ] = None
