"""The client as a state machine: a stage does one thing and says what comes next."""

from typing import Protocol


class Stage(Protocol):
    async def step(self) -> "Stage":
        """The stage after one step, possibly the same; a step that failed may be taken again."""
