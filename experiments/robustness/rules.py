"""How a server that sees every update may average them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.robustness.setting import Defence
from fedperm.wire.model import Parameters

Rule = Callable[[Sequence[Parameters], int], Parameters]
"""From updates, and how many of them to expect to be malicious, to one update."""


def mean(updates: Sequence[Parameters], _malicious: int) -> Parameters:
    averaged: Parameters = np.mean(updates, axis=0)
    return averaged


def clipped_mean(updates: Sequence[Parameters], malicious: int) -> Parameters:
    """None longer than the one in the middle."""
    norms = [float(np.linalg.norm(update)) for update in updates]
    limit = float(np.median(norms))
    return mean(
        [
            update if norm <= limit else update * (limit / norm)
            for update, norm in zip(updates, norms, strict=True)
        ],
        malicious,
    )


def median(updates: Sequence[Parameters], _malicious: int) -> Parameters:
    """Of each coordinate (Yin et al. 2018)."""
    middle: Parameters = np.median(updates, axis=0)
    return middle


def trimmed_mean(updates: Sequence[Parameters], malicious: int) -> Parameters:
    """Of each coordinate, without so many of the largest and smallest (Yin et al. 2018)."""
    ordered = np.sort(np.stack(updates), axis=0)
    kept: Parameters = ordered[malicious : len(updates) - malicious].mean(axis=0)
    return kept


def multi_krum(updates: Sequence[Parameters], malicious: int) -> Parameters:
    """The mean of the n - f updates that are nearest to their n - f - 2 nearest neighbours
    (Blanchard et al. 2017)."""
    count = len(updates)
    nearest = np.sort(_squared_distances(np.stack(updates)), axis=1)
    scores = nearest[:, 1 : count - malicious - 1].sum(axis=1)
    chosen = np.argsort(scores, kind="stable")[: count - malicious]
    return mean([updates[number] for number in chosen], malicious)


def _squared_distances(updates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each to each, itself included."""
    return np.stack([np.square(updates - update).sum(axis=1) for update in updates])


RULES: Mapping[Defence, Rule] = {
    Defence.NONE: mean,
    Defence.CLIPPED: clipped_mean,
    Defence.MEDIAN: median,
    Defence.TRIMMED: trimmed_mean,
    Defence.KRUM: multi_krum,
}
