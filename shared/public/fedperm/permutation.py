"""Secret permutations, and shuffling windows with them (Algorithm 1, lines 9 and 10)."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.windows import Geometry

Permutation = NDArray[np.intp]
"""pi, counted from 0: position j of a shuffled window holds position pi[j] of the window."""


def draw(length: int, randomness: Random) -> Permutation:
    """A uniform permutation: the standard library's Fisher-Yates over the given generator."""
    positions = list(range(length))
    randomness.shuffle(positions)
    return np.array(positions, dtype=np.intp)


def draw_patterns(geometry: Geometry, randomness: Random) -> list[Permutation]:
    """One independent permutation for every pattern in use."""
    return [draw(geometry.k1, randomness) for _ in range(geometry.patterns)]


def shuffle(
    windows: NDArray[Any], patterns: Sequence[Permutation], geometry: Geometry
) -> NDArray[Any]:
    """Each window shuffled with its pattern."""
    return windows[_row_numbers(geometry), _positions(patterns, geometry)]


def unshuffle(
    shuffled: NDArray[Any], patterns: Sequence[Permutation], geometry: Geometry
) -> NDArray[Any]:
    """What the aggregator does without knowing the patterns; here for those who know them."""
    windows = np.empty_like(shuffled)
    windows[_row_numbers(geometry), _positions(patterns, geometry)] = shuffled
    return windows


def _row_numbers(geometry: Geometry) -> NDArray[np.intp]:
    return np.arange(geometry.windows, dtype=np.intp)[:, None]


def _positions(patterns: Sequence[Permutation], geometry: Geometry) -> NDArray[np.intp]:
    if len(patterns) != geometry.patterns:
        raise ParameterError(
            f"{len(patterns)} patterns for a geometry that uses {geometry.patterns}",
            "draw the patterns with draw_patterns(geometry, randomness)",
        )
    return np.stack([patterns[geometry.pattern_of(x)] for x in range(geometry.windows)])
