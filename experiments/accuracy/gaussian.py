"""How many rounds of Gaussian noise a budget allows.

A client is either removed (the server is trusted with single updates: CDP) or replaced by any
other (nobody is: LDP). Where all clients are in every round, the rounds are one release with less
noise, whose epsilon has a closed form (Balle, Wang 2018). Where a trusted server hides which
clients were in a round, privacy loss distributions are composed. Both by dp_accounting.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import dp_accounting  # type: ignore[import-untyped]
from dp_accounting.pld import PLDAccountant  # type: ignore[import-untyped]

from experiments.accuracy.setting import DELTA

REMOVED, REPLACED = 1.0, 2.0
"""By how many clips such a client moves what is noised."""

_MARGIN = 1 + 1e-9
"""Of z: a target that is met within rounding is met."""


@dataclass(frozen=True)
class GaussianNoise:
    """`multiplier` (z) is in units of the clip."""

    multiplier: float
    sensitivity: float
    client_share: float = 1.0

    @property
    def at_clients(self) -> bool:
        return self.sensitivity == REPLACED


@lru_cache
def spent(noise: GaussianNoise, rounds: int) -> float:
    """Epsilon at DELTA."""
    ratio = noise.multiplier / noise.sensitivity
    if noise.client_share == 1:
        return float(dp_accounting.get_epsilon_gaussian(ratio / math.sqrt(rounds), DELTA))
    accountant = PLDAccountant()
    accountant.compose(_sampled(noise.client_share, ratio, rounds))
    return float(accountant.get_epsilon(DELTA))


@lru_cache
def noise_for(
    epsilon: float, rounds: int, sensitivity: float, client_share: float = 1.0
) -> GaussianNoise:
    """The least noise with which so many rounds cost at most (epsilon, DELTA)."""
    ratio = math.sqrt(rounds) * float(dp_accounting.get_sigma_gaussian(epsilon, DELTA)) * _MARGIN
    if client_share != 1:
        ratio = dp_accounting.calibrate_dp_mechanism(
            PLDAccountant,
            lambda tried: _sampled(client_share, tried, rounds),
            epsilon,
            DELTA,
            dp_accounting.ExplicitBracketInterval(ratio * client_share / 4, ratio),
        )
    return GaussianNoise(sensitivity * ratio, sensitivity, client_share)


@lru_cache
def rounds_within(epsilon: float, noise: GaussianNoise, at_most: int) -> int:
    """Algorithm 2 of the paper ends before the round that would pass the budget."""
    rounds = range(1, at_most + 1)
    return bisect_right(rounds, epsilon, key=lambda number: spent(noise, number))


def _sampled(share: float, ratio: float, rounds: int) -> dp_accounting.DpEvent:
    one = dp_accounting.PoissonSampledDpEvent(share, dp_accounting.GaussianDpEvent(ratio))
    return dp_accounting.SelfComposedDpEvent(one, rounds)
