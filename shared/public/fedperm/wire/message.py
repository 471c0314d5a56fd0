"""What all JSON messages share: frozen, nothing unknown, no NaN, no silent conversion."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints

from fedperm.ids import ClientName, EpochNumber, KeyName, RoundNumber, RunName

Item = TypeVar("Item")

Many = Annotated[tuple[Item, ...], Strict(False)]
"""JSON has arrays only; strict validation of decoded JSON would refuse them for a tuple."""

Lax = Annotated[Item, Strict(False)]
"""For enumerations, which arrive as strings."""

_TAME = StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
"""Names stand in paths, files and logs."""
_COUNTED = Field(ge=1, lt=1 << 31)

Name = Annotated[str, _TAME]
"""Of anything that has one."""

RunField = Annotated[RunName, _TAME]
ClientField = Annotated[ClientName, _TAME]
KeyField = Annotated[KeyName, _TAME]
RoundField = Annotated[RoundNumber, _COUNTED]
EpochField = Annotated[EpochNumber, _COUNTED]
"""Ids as messages and paths carry them: checked, and each of its own type."""

Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{0,30}$")]
"""Of something that is registered under it: a kind of submission, a phase, a task."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""In hexadecimal."""


MOST_NAMED = 20
"""Mistakes of a message that are told: ten thousand wrong members would make an answer of
megabytes."""
_LONGEST_PLACE = 100


def place_of(mistake: Mapping[str, Any]) -> str:
    """Where in a message a mistake of pydantic's is; cut, for members have names of any length."""
    return ".".join(map(str, mistake["loc"]))[:_LONGEST_PLACE]


class Message(BaseModel):
    """Base of every JSON document on the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
