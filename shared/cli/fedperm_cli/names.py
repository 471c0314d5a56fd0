"""Names of keys, clients and runs, checked before they become part of an address."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from fedperm.ids import RunName
from fedperm.wire.message import Name

_NAME: TypeAdapter[str] = TypeAdapter(Name)


def checked_name(name: str) -> str:
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise typer.BadParameter(
            f"{name!r} is no name: use 1 to 63 lower-case letters, digits and inner hyphens"
        ) from None


def _argument(what: str, metavar: str) -> Any:
    return typer.Argument(metavar=metavar, help=what, parser=checked_name, show_default=False)


KeyArgument = Annotated[str, _argument("Name of the key.", "KEY")]
ClientArgument = Annotated[str, _argument("Name of the client.", "CLIENT")]
RunArgument = Annotated[str, _argument("Name of the run.", "RUN")]
"""Of `str`: help shows an argument's type as Python writes it. Commands make ids of them."""

EpochOption = Annotated[
    int, typer.Option("--epoch", metavar="EPOCH", min=1, help="Its number; never the newest.")
]

RunNames = Annotated[
    list[RunName],
    typer.Option(
        "--run",
        metavar="RUN",
        parser=checked_name,
        default_factory=list,
        show_default=False,
        help="A run that uses the key; once for each.",
    ),
]
