"""How many rounds of Gaussian noise a budget allows: privacy loss distributions, by dp_accounting.

A client is either removed (the server is trusted with single updates: CDP) or replaced by any
other (nobody is: LDP). Only a server that is trusted may hide which clients are in a round.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import dp_accounting  # type: ignore[import-untyped]
from dp_accounting.pld import PLDAccountant  # type: ignore[import-untyped]

from experiments.accuracy.setting import DELTA

REMOVED, REPLACED = 1.0, 2.0
"""By how many clips such a client moves what is noised."""

_TOLERANCE = 1e-4
"""Of z."""


@dataclass(frozen=True)
class GaussianNoise:
    """`multiplier` (z) is in units of the clip."""

    multiplier: float
    sensitivity: float
    client_share: float = 1.0

    @property
    def event(self) -> dp_accounting.DpEvent:
        one = dp_accounting.GaussianDpEvent(self.multiplier / self.sensitivity)
        return one if self.client_share == 1 else _sampled(self.client_share, one)

    @property
    def at_clients(self) -> bool:
        return self.sensitivity == REPLACED


def _sampled(share: float, event: dp_accounting.DpEvent) -> dp_accounting.DpEvent:
    return dp_accounting.PoissonSampledDpEvent(share, event)


@lru_cache
def noise_for(
    epsilon: float, rounds: int, sensitivity: float, client_share: float = 1.0
) -> GaussianNoise:
    """The least noise with which so many rounds cost at most (epsilon, DELTA)."""

    def all_rounds(multiplier: float) -> dp_accounting.DpEvent:
        noise = GaussianNoise(multiplier, sensitivity, client_share)
        return dp_accounting.SelfComposedDpEvent(noise.event, rounds)

    multiplier = dp_accounting.calibrate_dp_mechanism(
        PLDAccountant, all_rounds, epsilon, DELTA, tol=_TOLERANCE
    )
    return GaussianNoise(float(multiplier), sensitivity, client_share)


@lru_cache
def spent(noise: GaussianNoise, rounds: int) -> float:
    """Epsilon at DELTA."""
    accountant = PLDAccountant()
    accountant.compose(noise.event, rounds)
    return float(accountant.get_epsilon(DELTA))


@lru_cache
def rounds_within(epsilon: float, noise: GaussianNoise, at_most: int) -> int:
    """Algorithm 2 of the paper ends before the round that would pass the budget."""
    rounds = range(1, at_most + 1)
    return bisect_right(rounds, epsilon, key=lambda number: spent(noise, number))
