"""Zero-concentrated DP as (epsilon, delta): rho-zCDP is (alpha, rho alpha)-Renyi DP for all alpha.

Bun and Steinke, "Concentrated Differential Privacy" (TCC 2016), with the conversion of Canonne,
Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (NeurIPS 2020), Prop. 12.
"""

import math

from fedperm.errors import ParameterError

_SEARCH_STEPS = 100


def epsilon_of(rho: float, delta: float) -> float:
    """The smallest epsilon over all orders alpha > 1; every alpha is a valid bound."""
    _check_delta(delta)
    if not (math.isfinite(rho) and rho >= 0):
        raise ParameterError(f"rho is {rho}", "rho is a finite number, at least 0")
    if rho == 0:
        return 0.0
    # The best alpha - 1 is near sqrt(ln(1/delta) / rho): search a wide span of its logarithm.
    middle = math.log(math.log(1 / delta) / rho) / 2
    low, high = middle - 12, middle + 12
    for _ in range(_SEARCH_STEPS):
        third = (high - low) / 3
        if _epsilon_at(low + third, rho, delta) < _epsilon_at(high - third, rho, delta):
            high -= third
        else:
            low += third
    return max(0.0, _epsilon_at((low + high) / 2, rho, delta))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho whose epsilon is at most the given one, by bisection."""
    _check_delta(delta)
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"epsilon is {epsilon}", "choose a positive number")
    low, high = 0.0, epsilon
    while epsilon_of(high, delta) < epsilon:
        high *= 2
    for _ in range(_SEARCH_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, delta) <= epsilon else (low, middle)
    return low


def _epsilon_at(log_order: float, rho: float, delta: float) -> float:
    """rho alpha + (ln(1/delta) + (alpha-1) ln(1-1/alpha) - ln alpha) / (alpha-1)."""
    less_one = math.exp(log_order)
    alpha = 1 + less_one
    return (
        rho * alpha + (math.log(1 / delta) - math.log(alpha)) / less_one - math.log1p(1 / less_one)
    )


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ParameterError(f"delta is {delta}", "choose delta between 0 and 1, such as 1e-5")
