"""Which task, with which options and data: the same in every command that runs one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

TaskName = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        envvar="FEDPERM_TASK",
        show_default=False,
        help="digits, mnist, synthetic or path.py:Class.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    option: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE", show_default=False, help="An option of the task; once for each."
        ),
    ] = field(default_factory=list)
    data: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="Where the task finds its data.")
    ] = Path("data")
