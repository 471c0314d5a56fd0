"""Text for people or one JSON object for programs: the same two options in every command."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from fedperm_cli.errors import OptionsError


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class DocumentFormat(StrEnum):
    """For a report that is also pasted into documents."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


_FORMAT = typer.Option("--format", show_default="text", help="What goes to stdout.")
FormatOption = Annotated[OutputFormat | None, _FORMAT]
DocumentFormatOption = Annotated[DocumentFormat | None, _FORMAT]
JsonOption = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

AnyFormat = TypeVar("AnyFormat", OutputFormat, DocumentFormat)


def chosen_format(
    formats: type[AnyFormat], output_format: AnyFormat | None, *, as_json: bool
) -> AnyFormat:
    """Text unless told otherwise, and never one of two that contradict each other."""
    if not as_json:
        return output_format or formats.TEXT
    if output_format not in {None, formats.JSON}:
        raise OptionsError(
            f"--json and --format {output_format} contradict each other", "give only one of them"
        )
    return formats.JSON


@dataclass(frozen=True)
class Output:
    """Both options as one argument of a command (`option_groups`)."""

    output_format: FormatOption = None
    as_json: JsonOption = False

    def is_json(self) -> bool:
        form = chosen_format(OutputFormat, self.output_format, as_json=self.as_json)
        return form is OutputFormat.JSON
