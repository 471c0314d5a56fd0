"""What every accountant answers, and the door that each of them shares."""

from dataclasses import dataclass
from typing import Protocol

from fedperm.errors import ParameterError, UnknownEventError
from fedperm.privacy.events import Rounds, ShuffledLaplace


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta) for one superwindow per pattern of a client, replaced, in every round."""

    epsilon: float
    delta: float
    accountant: str
    bound: str
    experimental: bool = False


class Accountant(Protocol):
    """Counts rounds of shuffled Laplace noise; refuses what it does not know."""

    @property
    def name(self) -> str: ...

    @property
    def bound(self) -> str:
        """The bound in words, with its source."""
        ...

    @property
    def experimental(self) -> bool:
        """Not proved: never a default, and no ledger accepts it."""
        ...

    @property
    def published(self) -> bool:
        """The bound and its proof are in the literature, not only in this repository."""
        ...

    @property
    def reproduction_only(self) -> bool:
        """Reproduces a printed number and is not a bound for what is released."""
        ...

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee: ...


def require_known(rounds: object, delta: float) -> None:
    """Raise unless `rounds` is an event that accountants can count, before anything is counted."""
    if not (isinstance(rounds, Rounds) and isinstance(rounds.event, ShuffledLaplace)):
        raise UnknownEventError(
            f"{type(rounds).__name__} is not an event this accountant can count",
            "give it Rounds of ShuffledLaplace",
        )
    if not 0 < delta < 1:
        raise ParameterError(f"delta is {delta}", "choose delta between 0 and 1, e.g. 1e-5")
