"""An answer, and whether the request made something or found it made."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Outcome(Generic[Answer]):
    answer: Answer
    made: bool

    @property
    def status(self) -> int:
        return 201 if self.made else 200
