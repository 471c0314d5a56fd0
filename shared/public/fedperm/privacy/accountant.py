"""What every accountant answers, and what they share: the check of their input, the search for
the smallest epsilon, and the way an epsilon is printed."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Protocol

from fedperm.errors import ParameterError, UnknownEventError
from fedperm.privacy.events import Rounds, ShuffledLaplace

__all__ = ["Accountant", "Guarantee", "printed", "require_known", "smallest"]

_FOUR_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


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


def smallest(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Bisection on a logarithmic scale between `low`, where it fails, and `high`, where it holds.

    The answer is a point where the condition was seen to hold, at most (1 + tolerance) times a
    point where it was seen to fail.
    """
    while high > low * (1 + tolerance):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def printed(epsilon: float) -> str:
    """Never less than it is: rounded up to four digits, without an exponent one could miss."""
    exact = Decimal(str(epsilon))
    if exact >= 1000:
        return f"{exact.to_integral_value(ROUND_CEILING):,f}"
    return f"{_FOUR_DIGITS.plus(exact).normalize():,f}"
