"""Text for people or one JSON object for programs: the same two options in every command."""

from enum import StrEnum
from typing import Annotated

import typer


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[OutputFormat, typer.Option("--format", help="What goes to stdout.")]
JsonOption = Annotated[bool, typer.Option("--json", help="The same as --format json.")]


def chosen_format(output_format: OutputFormat, *, as_json: bool) -> OutputFormat:
    return OutputFormat.JSON if as_json else output_format
