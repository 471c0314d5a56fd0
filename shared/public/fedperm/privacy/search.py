"""The smallest point from which on a condition holds."""

from collections.abc import Callable


def smallest(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Bisection on a logarithmic scale between `low`, where it fails, and `high`, where it holds.

    The answer is a point where the condition was seen to hold, at most (1 + tolerance) times a
    point where it was seen to fail.
    """
    while high > low * (1 + tolerance):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
