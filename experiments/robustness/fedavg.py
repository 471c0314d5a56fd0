"""Rounds of FedAvg with some malicious clients among the first, for many cases side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy.setting import CLIENTS
from experiments.robustness.lessons import lessons_of, moved_by
from experiments.robustness.rules import RULES
from experiments.robustness.scene import Deal, Score
from experiments.robustness.setting import Attack, Case, Defence, System
from experiments.robustness.training import SgdSteps
from fedperm.wire.model import Parameters
from fedperm_client.tasks.task import Examples

_LOUD = 100.0
"""By how much random noise is longer than an honest update."""
_FLIPS = {Attack.FLIP: 1.0, Attack.FLIP_10: 10.0, Attack.FLIP_100: 100.0}


@dataclass(frozen=True, eq=False)
class FedAvg:
    deal: Deal
    defence: Defence
    parameters: int
    rounds: int

    def play(self, cases: Sequence[Case]) -> list[Score]:
        rule, generator = RULES[self.defence], np.random.default_rng([self.deal.seed, 2])
        lessons = lessons_of(self.deal, cases, self._steps)
        models = np.zeros((len(cases), self.parameters))
        for _ in range(self.rounds):
            moved = moved_by(lessons, models)
            for i, case in enumerate(cases):
                for u, sent in enumerate(_malicious(case, moved[i], generator)):
                    moved[i, u] = sent
                models[i] += rule(list(moved[i]), case.malicious)
        return [self.deal.scene.score(model) for model in models]

    def _steps(self, examples: Examples, client: int) -> SgdSteps:
        randomness = Random(f"robustness {self.deal.seed} {client}")
        return SgdSteps(examples, System.FEDAVG.recipe, randomness)


def _malicious(
    case: Case, moved: NDArray[np.float64], generator: np.random.Generator
) -> list[Parameters]:
    """What the first clients send; all of them know what all have learned."""
    if case.attack is Attack.LITTLE:
        return [little(moved[case.malicious :], case.malicious)] * case.malicious
    return [_alone(case, movement, generator) for movement in moved[: case.malicious]]


def little(honest: NDArray[np.float64], malicious: int) -> Parameters:
    """So far from the mean that a majority, attackers included, is not nearer to it (Baruch et al.
    2019)."""
    outvoted = (len(honest) + malicious) // 2 + 1 - malicious
    deviations = NormalDist().inv_cdf((len(honest) - outvoted) / len(honest))
    sent: Parameters = honest.mean(axis=0) - deviations * honest.std(axis=0)
    return sent


def _alone(case: Case, movement: Parameters, generator: np.random.Generator) -> Parameters:
    if case.attack is Attack.SILENT:
        return np.zeros_like(movement)
    if case.attack in _FLIPS:
        return -_FLIPS[case.attack] * movement
    if case.attack is Attack.BOOSTED:
        return movement * (CLIENTS / case.malicious)
    if case.attack is Attack.NOISE:
        noise = generator.standard_normal(movement.size)
        length = _LOUD * float(np.linalg.norm(movement) / np.linalg.norm(noise))
        loud: Parameters = length * noise
        return loud
    return movement
