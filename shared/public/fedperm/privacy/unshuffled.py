"""Laplace noise without the shuffle: what is left when the permutation is known.

The accountant counts the paper's unit, one superwindow per pattern (row 2 of the report), and the
functions below it the whole update (rows 4 and 5), which no shuffle protects.

Rényi divergences add up under adaptive composition (Mironov 2017, arXiv:1702.07476, Proposition 1),
if the noise of each release is fixed beforehand. Orders and the conversion to (epsilon, delta) are
dp_accounting's: Canonne, Kamath and Steinke (arXiv:2004.00010), Proposition 12.

Integer noise is a little less private than continuous Laplace noise of the same scale, and the
coarser its grid, the less (the continuous law is a post-processing of the integer one). So the
divergence of the coarsest grid in use is the bound for all of them.
"""

from dataclasses import dataclass, field

import numpy as np
from dp_accounting.rdp import rdp_privacy_accountant as rdp  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from fedperm.privacy.accountant import Guarantee, require_known
from fedperm.privacy.events import COARSEST_GRID, Rounds

__all__ = ["PureEpsilon", "UnshuffledAccountant", "whole_update", "whole_update_pure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class UnshuffledAccountant:
    """Laplace noise on the k2 w parameters of one superwindow per pattern, T times."""

    name: str = field(default="no-shuffle-rdp", init=False)
    bound: str = field(
        default="no amplification: Rényi composition of Laplace noise over k2*w*T parameters "
        "(Mironov 2017), or k2*w*T/b if that is smaller",
        init=False,
    )
    experimental: bool = field(default=False, init=False)
    published: bool = field(default=True, init=False)
    reproduction_only: bool = field(default=False, init=False)

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        event = rounds.event
        count = event.geometry.patterns * event.geometry.superwindow * rounds.count
        epsilon = laplace_epsilon(event.laplace_scale, count, delta)
        return Guarantee(epsilon, delta, self.name, self.bound)


@dataclass(frozen=True)
class PureEpsilon:
    """Pure epsilon of a whole update, padding counted; it needs no shuffle and no delta."""

    per_round: float
    total: float


def whole_update_pure(rounds: Rounds) -> PureEpsilon:
    """d/b per round: every one of the padded d parameters may change by its whole range."""
    per_round = rounds.event.geometry.padded_d / rounds.event.laplace_scale
    return PureEpsilon(per_round, rounds.count * per_round)


def whole_update(rounds: Rounds, delta: float) -> float:
    """epsilon at delta: Laplace noise composed padded d * T times (or the pure sum, if smaller)."""
    count = rounds.event.geometry.padded_d * rounds.count
    return laplace_epsilon(rounds.event.laplace_scale, count, delta)


def laplace_epsilon(scale: float, count: int, delta: float) -> float:
    """epsilon of `count` releases at delta, or the pure sum count/b if that is smaller."""
    orders = np.asarray(rdp.DEFAULT_RDP_ORDERS, dtype=np.float64)
    divergences = count * integer_laplace_divergence(scale, orders)
    epsilon, _ = rdp.compute_epsilon(orders, divergences, delta)
    return min(float(epsilon), count / scale)


def integer_laplace_divergence(scale: float, orders: Array, grid: int = COARSEST_GRID) -> Array:
    """D_alpha(N + Z || Z) for P(Z = z) = (1-q)/(1+q) q^|z|, q = e^(-1/(bN)), all alpha at once.

    The likelihood ratio is e^(-1/b) up to 0, e^(1/b) from N on, and q^(N-2y) at y in between.
    """
    unit = 1 / (scale * grid)
    between = np.arange(1, grid)
    inner = np.log(-np.expm1(-unit)) - unit * (
        between + np.multiply.outer(orders, grid - 2 * between)
    )
    below, above = -orders / scale, (orders - 1) / scale
    terms = np.column_stack((below, above, inner))
    moments = special.logsumexp(terms, axis=1) - np.log1p(np.exp(-unit))
    return np.asarray(np.maximum(0, moments / (orders - 1)), dtype=np.float64)
