"""Sums of n independent lattice variables, bounded from above.

Every numeric shuffle bound here has the form delta = E[(X_1 + ... + X_n)_+] / n. Putting X on a
lattice by splitting each value between its two neighbours, means kept, is a mean-preserving spread:
X grows in convex order. Sums of independent variables keep that order (Shaked and Shanthikumar,
"Stochastic Orders", 2007, Theorem 3.A.12), so the expectation of a convex function of the sum can
only rise, and the result stays a bound.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy import fft  # type: ignore[import-untyped]

Array = NDArray[np.float64]

TAIL = 1e-15
EPS = float(np.finfo(np.float64).eps)
TILTS = np.concatenate((-np.geomspace(0.02, 10, 16), np.geomspace(0.02, 10, 16)))


@dataclass(frozen=True)
class Lattice:
    """A probability mass function on the points (first + i) * step."""

    step: float
    first: int
    masses: Array


def spread(values: Array, masses: Array, step: float) -> Lattice:
    """The values on a lattice, each split between its two neighbours so that its mean is kept."""
    scaled = values / step
    below = np.floor(scaled)
    first = int(below.min())
    cells = (below - first).astype(np.int64)
    upper = masses * (scaled - below)
    size = int(cells.max()) + 2
    on_lattice = np.bincount(cells, masses - upper, size) + np.bincount(cells + 1, upper, size)
    return Lattice(step, first, on_lattice.astype(np.float64))


@dataclass(frozen=True)
class Window:
    """Where a sum lies, in steps, but for a probability of at most TAIL on either side."""

    low: int
    high: int


def mean_positive_part(lattice: Lattice, n: int) -> float:
    """An upper bound of E[(X_1 + ... + X_n)_+], by one Fourier transform.

    What the window cuts off above, E[S_+; S > high], is at most TAIL (1 + high). What wraps round
    from below lands on the highest values and can only raise the result.
    """
    window = _window(lattice, n)
    size = max(window.high - window.low + 1, lattice.masses.size)
    length = fft.next_fast_len(size, real=True)
    spectrum = fft.rfft(lattice.masses, length) ** n
    sums = np.roll(fft.irfft(spectrum, length), n * lattice.first - window.low)
    points = window.low + np.arange(length)
    upper, mass = points[points > 0], sums[points > 0]
    rounding = 4 * EPS * n * float(sums.max())
    mean = float(upper @ (np.maximum(mass, 0) + rounding))
    return lattice.step * (mean + TAIL * (1 + max(0, window.high)))


def _window(lattice: Lattice, n: int) -> Window:
    """Chernoff's bound at several tilts t: P(S > h) <= E[e^(t (S - h))].

    With E[e^(t (S - h))] = TAIL min(1, t) also E[(S - h)_+] <= TAIL, as (x)_+ <= e^(t x)/(e t).
    """
    (carriers,) = np.nonzero(lattice.masses)
    points, masses = lattice.first + carriers, lattice.masses[carriers]
    tilts = TILTS / max(1.0, float(np.sqrt(masses @ points.astype(np.float64) ** 2)))
    exponents = np.outer(tilts, points)
    peaks = exponents.max(axis=1)
    logs = n * (peaks + np.log(np.exp(exponents - peaks[:, None]) @ masses))
    reach = (logs - log(TAIL) - np.log(np.minimum(1, np.abs(tilts)))) / tilts
    low = int(np.floor(reach[tilts < 0].max()))
    high = int(np.ceil(reach[tilts > 0].min()))
    return Window(max(low, n * int(points[0])), min(high, n * int(points[-1])))
