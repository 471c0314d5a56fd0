"""How many bits an answer gives of a secret that is one of many, each as likely as the others."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray


def bits_of_answers(answers: Sequence[Hashable]) -> float:
    """One answer for each possible secret: the entropy of the answer."""
    count = len(answers)
    return sum(times / count * math.log2(count / times) for times in Counter(answers).values())


def bits_of_sampled_answers(answers: Sequence[Hashable], secrets: int) -> float:
    """The same from answers for a sample of so many secrets: at least so many bits, by Jensen's
    inequality, for the mean number of secrets with one answer."""
    sampled = len(answers)
    alike = sum(times * (times - 1) for times in Counter(answers).values())
    chance = alike / (sampled * (sampled - 1))
    return math.log2(secrets) - math.log2(1 + (secrets - 1) * chance)


def bits_of_shuffled_values(
    means: NDArray[np.float64], scale: float, trials: int, generator: np.random.Generator
) -> float:
    """What an attacker learns who sees windows of values with Laplace noise, each window shuffled.

    `means` are (secrets, windows, values). It judges each secret by how likely the values of a
    window are as draws from the mixture of that window's laws, which forgets the order as the
    shuffle does. For every such judgement q, log2(secrets) + E log2 q(secret) is at most the mutual
    information: this much an attacker does learn; a better one may learn more.
    """
    secrets, windows, _ = means.shape
    grid = np.linspace(-12 * scale, 1 + 12 * scale, _GRID)
    logs = np.stack([_log_mixtures(means[secret], scale, grid) for secret in range(secrets)])
    gained = []
    for _ in range(trials):
        secret = int(generator.integers(secrets))
        seen = means[secret] + generator.laplace(0.0, scale, means[secret].shape)
        cells = np.clip(np.searchsorted(grid, seen), 0, _GRID - 1)
        scores = sum(logs[:, window, cells[window]].sum(axis=1) for window in range(windows))
        gained.append(math.log2(secrets) + _log2_share(np.asarray(scores), secret))
    return float(np.mean(gained))


_GRID = 1000


def _log_mixtures(
    means: NDArray[np.float64], scale: float, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One row a window: the log density of a value that comes from any of its positions."""
    return np.stack(
        [np.log(np.exp(-np.abs(grid[:, None] - row) / scale).mean(axis=1)) for row in means]
    )


def _log2_share(scores: NDArray[np.float64], secret: int) -> float:
    """Of the secret among all, by their log likelihoods."""
    largest = scores.max()
    whole = largest + math.log(float(np.exp(scores - largest).sum()))
    return float(scores[secret] - whole) / math.log(2)
