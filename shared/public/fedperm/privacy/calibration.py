"""From a wanted (epsilon, delta) to the Laplace scale b."""

import math

from fedperm.errors import ParameterError, PreconditionError, PrivacyError
from fedperm.privacy.accountant import Accountant, Guarantee, smallest
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.windows import Geometry

__all__ = ["guarantee", "laplace_scale"]

TOLERANCE = 1e-4  # b is at most this much, relatively, above a scale that fails the target
MIN_SCALE, MAX_SCALE = 2.0**-30, 2.0**60


def guarantee(
    accountant: Accountant, geometry: Geometry, rounds: int, scale: float, delta: float
) -> Guarantee:
    """What `rounds` rounds with Laplace noise of this scale give."""
    return accountant.guarantee(Rounds(ShuffledLaplace(geometry, scale), rounds), delta)


def laplace_scale(
    accountant: Accountant, geometry: Geometry, rounds: int, epsilon: float, delta: float
) -> float:
    """The smallest Laplace scale b, within TOLERANCE, for a total of (epsilon, delta).

    The returned scale was evaluated and keeps the target. A bound that does not hold at a scale
    does not keep it: more noise is tried.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError(f"epsilon is {epsilon}", "choose a positive, finite epsilon")

    def keeps(scale: float) -> bool:
        try:
            return guarantee(accountant, geometry, rounds, scale, delta).epsilon <= epsilon
        except PreconditionError:
            return False

    high = 1.0
    while not keeps(high):
        high *= 2
        if high > MAX_SCALE:
            guarantee(accountant, geometry, rounds, high, delta)  # a bound's refusal says why
            raise PrivacyError(
                f"no noise gives epsilon {epsilon} at delta {delta} by {accountant.name}",
                "choose a larger epsilon or delta, fewer rounds, or another accountant",
            )
    low = high / 2
    while keeps(low) and low > MIN_SCALE:
        low, high = low / 2, low
    return smallest(keeps, low, high, TOLERANCE)
