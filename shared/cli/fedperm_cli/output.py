"""Text for people or one JSON object for programs: the same two options in every command."""

from enum import StrEnum
from typing import Annotated, TypeVar

import typer


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class DocumentFormat(StrEnum):
    """For a report that is also pasted into documents."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


_FORMAT = typer.Option("--format", help="What goes to stdout.")
FormatOption = Annotated[OutputFormat, _FORMAT]
DocumentFormatOption = Annotated[DocumentFormat, _FORMAT]
JsonOption = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

AnyFormat = TypeVar("AnyFormat", OutputFormat, DocumentFormat)


def chosen_format(output_format: AnyFormat, *, as_json: bool) -> AnyFormat:
    return type(output_format).JSON if as_json else output_format
