"""What all JSON messages share: frozen, nothing unknown, no NaN, no silent conversion."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, StringConstraints

Item = TypeVar("Item")

Many = Annotated[tuple[Item, ...], Strict(False)]
"""JSON has arrays only; strict validation of decoded JSON would refuse them for a tuple."""

Lax = Annotated[Item, Strict(False)]
"""For enumerations, which arrive as strings."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
"""Of runs, keys and clients: it stands in paths, files and logs, so it is tame."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""In hexadecimal."""


class Message(BaseModel):
    """Base of every JSON document on the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
