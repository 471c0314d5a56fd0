"""Tight composition through privacy loss distributions: dp_accounting's, always pessimistic.

A profile that is convex in e^eps is that of a pair of distributions; the pair dominates the
mechanism, and composing dominating pairs dominates adaptive composition (Zhu, Dong, Wang 2022).
"""

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # type: ignore[import-untyped]
from numpy.typing import NDArray

from fedperm.privacy.accountant import smallest
from fedperm.privacy.events import COARSEST_GRID
from fedperm.privacy.profile import Profile

Array = NDArray[np.float64]

# One coordinate's loss lies in [-1/b, 1/b]; "Connect the Dots" at 1/(8 b) is exactly the profile of
# integer Laplace noise of scale 16 b on the grid {0..16}, and above that of every grid {0..16 m}.
CELLS = COARSEST_GRID // 2

TOLERANCE = 1e-7
SMALLEST = 1e-9  # of the pure epsilon: no smaller one is told from zero


def composed_epsilon(profile: Profile, times: int, delta: float) -> float:
    """The smallest eps, within TOLERANCE, of `times` releases; at most their pure sum.

    "Connect the Dots" (Doroshenko et al. 2022) on the profile's vertices is exact: its distribution
    has the given deltas at the vertices, and a profile linear in e^eps between them.
    """
    one = pld_pmf.create_pmf_pessimistic_connect_dots(
        profile.step, profile.marks, profile.deltas
    ).to_dense_pmf()
    composed = one.self_compose(times)

    def holds(epsilon: float) -> bool:
        return float(composed.get_delta_for_epsilon(epsilon)) <= delta

    pure = times * profile.step * int(profile.marks[-1])
    return 0.0 if holds(0.0) else smallest(holds, pure * SMALLEST, pure, TOLERANCE)


def laplace_vector_deltas(scale: float, w: int, epsilons: Array) -> Array:
    """delta(eps) of w coordinates, all shifted by 1, unshuffled; at eps = 0 the total variation."""
    one = privacy_loss_distribution.from_laplace_mechanism(
        scale, value_discretization_interval=1 / (scale * CELLS)
    )
    deltas = one.self_compose(w).get_delta_for_epsilon(epsilons)
    return np.clip(np.asarray(deltas, dtype=np.float64), 0, 1)
