"""What is put on the aggregator."""

from typing import Annotated

from pydantic import Field

from fedperm.wire.message import Message

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]

LONGEST_SECONDS = 800.0
"""Access tokens are made once, and are good for 15 minutes."""


class Setting(Message):
    """Of `idle + uploads` clients `uploads` are asked in every round and send at the same moment;
    the others wait. `parameters` is d. Short keys are for quick tests."""

    idle: Count
    uploads: Count
    rounds: Count
    seconds: Annotated[float, Field(gt=0, le=LONGEST_SECONDS)]
    parameters: Count
    k1: Count
    k2: Count
    value_bits: Count
    laplace_scale: Annotated[float, Field(ge=0)]
    key_bits: Count
    workers: Count | None = None
    """The aggregator's processes; it has as many as there are cores if nothing is said."""
    arrive_seconds: Seconds = 10.0
    """Clients come one after the other within this time."""
    beat_seconds: Seconds = 3.0
    """Between a client's heartbeats: what our clients take."""
    look_seconds: Seconds = 0.25
    """Between two looks of the onlooker at each control endpoint."""

    @property
    def clients(self) -> int:
        return self.idle + self.uploads
