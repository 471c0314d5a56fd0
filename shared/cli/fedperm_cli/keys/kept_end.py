"""`--kept`: the end of an earlier audit."""

import re
from typing import Annotated

import typer

from fedperm_cli.errors import OptionsError


def _checked_hash(text: str) -> str:
    """What is mistyped would look like a log that was tampered with."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise OptionsError(
            f"--kept {text!r} is no hash", "give the 64 hexadecimal digits that an audit ended with"
        )
    return text


KeptEnd = Annotated[
    str | None,
    typer.Option(
        metavar="HASH",
        parser=_checked_hash,
        help="The end of an earlier audit: it must still be there.",
    ),
]
