"""Rounds of FedAvg with some malicious clients among the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from experiments.accuracy.baselines import Trainer
from experiments.accuracy.setting import CLIENTS
from experiments.robustness.rules import RULES
from experiments.robustness.scene import Deal, Score
from experiments.robustness.setting import Attack, Case, Defence, System
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
        return [self._play(case) for case in cases]

    def _play(self, case: Case) -> Score:
        parameters: Parameters = np.zeros(self.parameters)
        recipe = System.FEDAVG.recipe
        trainers = [
            Trainer(self._data(case, u), recipe, Random(f"robustness {self.deal.seed} {u}"))
            for u in range(CLIENTS)
        ]
        generator = np.random.default_rng([self.deal.seed, 2])
        rule = RULES[self.defence]
        for _ in range(self.rounds):
            moved = [trainer.movement(parameters) for trainer in trainers]
            for u in range(case.malicious):
                moved[u] = _malicious(case, moved[u], generator)
            parameters = parameters + rule(moved, case.malicious)
        return self.deal.scene.score(parameters)

    def _data(self, case: Case, client: int) -> Examples:
        if client < case.malicious and case.attack is Attack.LABELS:
            return self.deal.mislabelled(client)
        if client < case.malicious and case.attack in {Attack.BACKDOOR, Attack.BOOSTED}:
            return self.deal.poisoned(client)
        return self.deal.own(client)


def _malicious(case: Case, movement: Parameters, generator: np.random.Generator) -> Parameters:
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
