"""One pattern of one round: upper bounds of delta(eps) on a grid of losses below epsilon_w.

Each is capped by the unshuffled vector: shuffling is post-processing. Where two published bounds
cross, the smaller is a bound too.
"""

import numpy as np
from numpy.typing import NDArray

from fedperm.privacy.blanket import bennett, integer_laplace_facts, vector_blanket
from fedperm.privacy.clones import stronger_clones, variation_ratio
from fedperm.privacy.events import ShuffledLaplace
from fedperm.privacy.loss_distribution import laplace_vector_deltas

Array = NDArray[np.float64]


def unshuffled(event: ShuffledLaplace, epsilons: Array) -> Array:
    return laplace_vector_deltas(event.laplace_scale, event.geometry.superwindow, epsilons)


def by_bennett(event: ShuffledLaplace, epsilons: Array) -> Array:
    """Balle et al. for 1-D Laplace of epsilon_w; Bennett's inequality says nothing at eps = 0.

    For a vector of w coordinates gamma and the largest L are those of one coordinate of epsilon_w,
    and its second moment is at most that one's (log ratios of independent coordinates spread less
    than their sum in one; tested over a wide range), so the 1-D bound holds for it.
    """
    k1 = event.geometry.k1
    shuffled = [
        bennett(integer_laplace_facts(epsilon, event.epsilon_w), epsilon, k1)
        if epsilon > 0
        else 1.0
        for epsilon in epsilons.tolist()
    ]
    return np.minimum(shuffled, unshuffled(event, epsilons))


def by_clones(event: ShuffledLaplace, epsilons: Array) -> Array:
    clones = stronger_clones(epsilons, event.epsilon_w, event.geometry.k1)
    return np.minimum(clones, by_bennett(event, epsilons))


def by_variation_ratio(event: ShuffledLaplace, epsilons: Array) -> Array:
    total_variation = float(unshuffled(event, np.zeros(1))[0])
    ratio = variation_ratio(epsilons, event.epsilon_w, total_variation, event.geometry.k1)
    return np.minimum(ratio, by_clones(event, epsilons))


def by_vector_blanket(event: ShuffledLaplace, epsilons: Array) -> Array:
    w, k1 = event.geometry.superwindow, event.geometry.k1
    blanket = vector_blanket(epsilons, event.epsilon_wd, w, k1)
    return np.minimum(blanket, unshuffled(event, epsilons))
