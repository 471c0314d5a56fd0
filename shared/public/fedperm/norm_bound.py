"""Norm bounding on the shuffled values (Algorithm 1, line 15): permutations keep the norm.

The paper bounds y in [0, 1] and decodes with C(2z - 1). An upload of all zeros then has norm 0,
passes every bound and decodes to -C everywhere; and scaling an honest client towards 0 biases
every coordinate. The default here bounds y - 1/2 instead, where 0 means "no update"; the
paper's form stays available by its name.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.normalisation import CENTRE

_EXACT_TERMS = 1 << 20
"""So many squares of 21-bit numbers add up exactly in 64 bits."""


class NormForm(StrEnum):
    """Which vector's norm is bounded."""

    CENTRED = "centred"
    PAPER = "paper"

    @property
    def origin(self) -> float:
        """The normalised value from which the norm is measured and towards which it shrinks."""
        return CENTRE if self is NormForm.CENTRED else 0.0


@dataclass(frozen=True)
class BoundedValues:
    """Integers ready to be multiplied into the masks, and what bounding did to them."""

    values: NDArray[Any]
    norm_before: float
    norm_after: float

    @property
    def was_bounded(self) -> bool:
        return self.norm_after != self.norm_before


@dataclass(frozen=True)
class NormBound:
    """Scales updates whose norm exceeds `limit` (M in the paper, in normalised units)."""

    limit: float
    form: NormForm = NormForm.CENTRED

    def __post_init__(self) -> None:
        if not (math.isfinite(self.limit) and self.limit > 0):
            raise ParameterError(f"the norm bound M is {self.limit}", "choose a positive number")

    def check_rounding(self, positions: int, fixed_point: FixedPoint) -> None:
        """Refuses a limit that rounding alone could exceed; a run checks it before it starts."""
        if self.limit <= _most_rounding(positions, fixed_point):
            raise ParameterError(
                f"the norm bound M = {self.limit} is finer than {positions} rounded values",
                "raise the bound or the value bits",
            )

    def apply(self, values: NDArray[Any], fixed_point: FixedPoint) -> BoundedValues:
        """The values unchanged if their norm is within the limit, else scaled down to it.

        Scaled values are rounded to the nearest integer (ties to even). They are scaled to the
        limit less the most that rounding can add, so the limit holds for what is aggregated.
        """
        self.check_rounding(values.size, fixed_point)
        origin = (self.form.origin - fixed_point.low) / fixed_point.step
        norm_before = _norm(values, origin) * fixed_point.step
        if norm_before <= self.limit:
            # a copy: the values are views into a whole upload, which must not be kept alive
            return BoundedValues(values.copy(), norm_before, norm_before)
        target = self.limit - _most_rounding(values.size, fixed_point)
        scaled = np.rint(origin + (target / norm_before) * (values.astype(np.float64) - origin))
        bounded = scaled.astype(fixed_point.dtype)
        return BoundedValues(bounded, norm_before, _norm(bounded, origin) * fixed_point.step)


def _most_rounding(positions: int, fixed_point: FixedPoint) -> float:
    """Half a step in every coordinate."""
    return fixed_point.step * math.sqrt(positions) / 2


def _norm(values: NDArray[Any], origin: float) -> float:
    """|| values - origin ||: exact sums of 2v - p for the integer p nearest to twice the origin.

    In the centred form p is twice the origin, 2^B - 1, and nothing cancels; in the paper's form
    what is left over is less than half a unit.
    """
    pivot = round(2 * origin)
    rest = 2 * origin - pivot
    linear = squares = 0
    flat = values.reshape(-1)
    for start in range(0, flat.size, _EXACT_TERMS):
        doubled = 2 * flat[start : start + _EXACT_TERMS].astype(np.int64) - pivot
        linear += int(doubled.sum())
        squares += int(doubled @ doubled)
    return math.sqrt(max(0.0, squares - 2 * rest * linear + rest * rest * flat.size)) / 2


def honest_limit(positions: int, laplace_scale: float) -> float:
    """M for the centred form that lets honest clients through, four deviations above the mean.

    A centred honest coordinate is at most 1/2 of signal plus Laplace noise, whose square has
    mean 2 b^2 and variance 20 b^4: M^2 = d (2 b^2 + 1/4) + 4 b^2 sqrt(20 d), d with padding.
    """
    b_squared = laplace_scale * laplace_scale
    return math.sqrt(positions * (2 * b_squared + 0.25) + 4 * b_squared * math.sqrt(20 * positions))
