"""Rényi accounting of unshuffled integer Laplace noise; orders and conversion are dp_accounting's.

Integer noise is a little less private than continuous Laplace noise of the same scale, and the
coarser its grid, the less (the continuous law is a post-processing of the integer one). So the
divergence of the coarsest grid in use is the bound for all of them.
"""

import numpy as np
from dp_accounting.rdp import rdp_privacy_accountant as rdp  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy import special  # type: ignore[import-untyped]

from fedperm.privacy.events import COARSEST_GRID

Array = NDArray[np.float64]


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
