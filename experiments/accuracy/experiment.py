"""One algorithm with one amount of noise on one partition of the data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.accuracy.baselines import Allowance, FedAvg, NoisyAveraging, trainers
from experiments.accuracy.document import document_of
from experiments.accuracy.fedperm import FedPerm
from experiments.accuracy.gaussian import REMOVED, REPLACED, noise_for, rounds_within, spent
from experiments.accuracy.images import Digits
from experiments.accuracy.privacy import privacy_of, scale_for_record, scale_for_run
from experiments.accuracy.setting import DELTA, ROUNDS, Algorithm, Recipe, World
from experiments.accuracy.training import train
from fedperm.errors import ParameterError
from fedperm.privacy.registry import accountant_named
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry
from fedperm_cli.presets import LIGHT
from fedperm_client.tasks.task import Examples

Parts = Sequence[Examples]
"""The clients' own records."""


@dataclass(frozen=True)
class Wish:
    """How much noise: none, or for a total epsilon; `for_record` where it is for one record."""

    algorithm: Algorithm
    epsilon: float | None = None
    geometry: Geometry = LIGHT
    accountant: str = "default"
    for_record: bool = False

    def check(self) -> None:
        """Refuses what no algorithm can do, before any data are read."""
        accountant_named(self.accountant)
        if self.algorithm is Algorithm.FEDAVG:
            return
        if self.for_record and self.algorithm is not Algorithm.FEDPERM:
            raise ParameterError(
                f"{self.algorithm} has no noise for one record", "give --epsilon, or use fedperm"
            )
        if not (self.wanted > 0 and math.isfinite(self.wanted)):
            raise ParameterError(f"epsilon is {self.wanted}", "choose a positive number")

    @property
    def wanted(self) -> float:
        if self.epsilon is None:
            raise ParameterError(
                f"{self.algorithm} without an epsilon", "give --epsilon, or --record-epsilon"
            )
        return self.epsilon


@dataclass(frozen=True)
class Outcome:
    """`privacy` names every epsilon with its unit; `noise` is b, or z in units of the clip.
    `upload_megabytes` are the encrypted masks of a client's round."""

    accuracies: tuple[float, ...]
    noise: float
    smallest_client: int
    privacy: Mapping[str, float | str]
    upload_megabytes: float = 0.0


def run(wish: Wish, recipe: Recipe, digits: Digits, world: World, rounds: int = ROUNDS) -> Outcome:
    wish.check()
    parts = digits.cut(world)
    if wish.algorithm is Algorithm.FEDPERM:
        return _fedperm(wish, recipe, digits, parts, world.seed, rounds)
    if wish.algorithm is Algorithm.FEDAVG:
        algorithm = FedAvg(trainers(recipe, parts, world.seed))
        accuracies = train(algorithm, digits.judged, recipe, rounds)
        return Outcome(accuracies, 0.0, _smallest(parts), {"none": "no noise, no privacy"})
    return _gaussian(wish, recipe, digits, parts, world.seed, rounds)


def _fedperm(
    wish: Wish, recipe: Recipe, digits: Digits, parts: Parts, seed: int, rounds: int
) -> Outcome:
    smallest = _smallest(parts)
    if wish.for_record:
        scale = scale_for_record(recipe, smallest, wish.wanted)
    else:
        scale = scale_for_run(wish.accountant, wish.geometry, wish.wanted)
    document = document_of(recipe, wish.geometry, scale, smallest)
    accuracies = train(FedPerm(document, parts, seed), digits.judged, recipe, rounds)
    privacy = privacy_of(document, wish.accountant)
    return Outcome(accuracies, scale, smallest, privacy, _megabytes(document))


def _gaussian(
    wish: Wish, recipe: Recipe, digits: Digits, parts: Parts, seed: int, rounds: int
) -> Outcome:
    epsilon, is_local = wish.wanted, wish.algorithm is Algorithm.LDP
    noise = noise_for(epsilon, ROUNDS, REPLACED if is_local else REMOVED, recipe.client_share)
    allowance = Allowance(noise, rounds_within(epsilon, noise, ROUNDS))
    generator = np.random.default_rng([seed, 1])
    algorithm = NoisyAveraging(trainers(recipe, parts, seed), recipe.clip, allowance, generator)
    accuracies = train(algorithm, digits.judged, recipe, rounds)
    privacy: dict[str, float | str] = {
        "accountant": "gaussian",
        "delta": DELTA,
        "whole_update" if is_local else "participant": spent(noise, allowance.rounds),
    }
    return Outcome(accuracies, noise.multiplier, _smallest(parts), privacy)


def _megabytes(document: RunDocument) -> float:
    """Of the masks alone."""
    return sum(tensor.size for tensor in document.plan.layout.masks) / 1e6


def _smallest(parts: Parts) -> int:
    return min(map(len, parts))
