"""One algorithm with one amount of noise on one partition of the data."""

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
    smallest, epsilon = _smallest(parts), _wanted(wish)
    if wish.for_record:
        scale = scale_for_record(recipe, smallest, epsilon)
    else:
        scale = scale_for_run(wish.accountant, wish.geometry, epsilon)
    document = document_of(recipe, wish.geometry, scale, smallest)
    accuracies = train(FedPerm(document, parts, seed), digits.judged, recipe, rounds)
    privacy = privacy_of(document, wish.accountant)
    return Outcome(accuracies, scale, smallest, privacy, _megabytes(document))


def _gaussian(
    wish: Wish, recipe: Recipe, digits: Digits, parts: Parts, seed: int, rounds: int
) -> Outcome:
    epsilon, is_local = _wanted(wish), wish.algorithm is Algorithm.LDP
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
    """A ciphertext is a number modulo n^2."""
    return document.plan.mask_ciphertexts * 2 * document.key.key_bits / 8 / 1e6


def _smallest(parts: Parts) -> int:
    return min(map(len, parts))


def _wanted(wish: Wish) -> float:
    if wish.epsilon is None:
        raise ParameterError(
            f"{wish.algorithm} without an epsilon", "give --epsilon, or --record-epsilon"
        )
    return wish.epsilon
