"""How far an attacker can go without being cut."""

import math
from dataclasses import dataclass

import numpy as np

from fedperm.norm_bound import NormBound, NormForm, honest_limit
from fedperm.normalisation import CENTRE
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters

_JUST_BELOW = 0.999
"""Rounding to integers must not pass the bound."""


def paper_limit(positions: int, laplace_scale: float) -> float:
    """M for the paper's form that lets honest clients through: as `honest_limit`, but a normalised
    coordinate is up to 1 away from 0, not 1/2 from the centre."""
    b_squared = laplace_scale * laplace_scale
    return math.sqrt(positions * (2 * b_squared + 1) + 4 * b_squared * math.sqrt(20 * positions))


def bound_of(form: NormForm, positions: int, laplace_scale: float) -> NormBound:
    limit = honest_limit if form is NormForm.CENTRED else paper_limit
    return NormBound(limit(positions, laplace_scale), form)


@dataclass(frozen=True)
class Room:
    """Shares of the norm bound and of the coded interval that an attacker uses."""

    norm: float = 1.0
    value: float = 1.0


ALL = Room()


def longest(direction: Parameters, document: RunDocument, room: Room = ALL) -> Parameters:
    """The displacement from 1/2 along a direction that just passes the bound; without one, as far
    as the code reaches in every coordinate."""
    bound, most = document.bound, room.value * document.plan.fixed_point.reach
    if bound is None:
        return most * np.sign(direction)
    scale = room.norm * _within(direction, bound, document.plan.geometry.padded_d)
    displacement: Parameters = np.clip(scale * direction, -most, most)
    return displacement


def _within(direction: Parameters, bound: NormBound, positions: int) -> float:
    """The largest s with || (1/2 - origin) + s u || <= limit; padded positions hold 1/2."""
    offset = CENTRE - bound.form.origin
    limit = _JUST_BELOW * bound.limit
    squares, linear = float(direction @ direction), offset * float(direction.sum())
    rest = limit * limit - positions * offset * offset
    return (math.sqrt(linear * linear + squares * rest) - linear) / squares
