"""The robustness part of the results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from experiments.accuracy.setting import DELTA, ROUNDS, World
from experiments.robustness.experiment import stage
from experiments.robustness.scene import mnist_deal
from experiments.robustness.setting import (
    ACCOUNTANT,
    SEEDS,
    TARGET,
    USUAL_ATTACKERS,
    Defence,
    System,
    attacker_counts,
    cases,
)

_SECONDS_A_CASE_AND_ROUND = 0.1
"""With all images."""
_QUICK_ROUNDS = 5


@dataclass(frozen=True)
class RobustnessMeasurement:
    """All attacks on one system under one defence, on one seed."""

    system: System
    defence: Defence
    seed: int
    malicious: tuple[int, ...]
    rounds: int
    part: str = "robustness"
    alone: bool = False

    @property
    def name(self) -> str:
        return f"{self.system}/{self.defence}/seed-{self.seed}"

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        return {
            "system": self.system,
            "defence": self.defence,
            "seed": self.seed,
            "malicious": list(self.malicious),
            "rounds": self.rounds,
            "one_training_image_of": self.system.one_image_of,
            "recipe": asdict(self.system.recipe),
            "filter": World(self.seed).filter,
            "alpha": World(self.seed).alpha,
            "epsilon": self.system.epsilon,
            "delta": DELTA,
            "accountant": ACCOUNTANT,
            "target": TARGET,
        }

    @property
    def expected_seconds(self) -> float:
        played = len(cases(self.system, self.malicious)) * self.rounds
        return _SECONDS_A_CASE_AND_ROUND * played / self.system.one_image_of

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        deal = mnist_deal(data, self.system.one_image_of, self.seed)
        made = stage(self.system, self.defence, deal, self.rounds)
        played = cases(self.system, self.malicious)
        scores: dict[str, JsonValue] = {
            case.name: asdict(score)
            for case, score in zip(played, made.system.play(played), strict=True)
        }
        return {
            "laplace_scale": made.laplace_scale,
            "smallest_client": made.smallest_client,
            "scores": scores,
        }


def measurements(*, quick: bool) -> Sequence[RobustnessMeasurement]:
    """One scene after the other: a process filters the images of one at a time."""
    if quick:
        return [
            RobustnessMeasurement(
                System.LIGHT, Defence.CENTRED, SEEDS[0], (USUAL_ATTACKERS,), _QUICK_ROUNDS
            ),
            RobustnessMeasurement(System.FEDAVG, Defence.MEDIAN, SEEDS[0], (USUAL_ATTACKERS,), 1),
        ]
    return [
        RobustnessMeasurement(system, defence, seed, attacker_counts(system, defence), ROUNDS)
        for system in sorted(System, key=lambda system: -system.one_image_of)
        for seed in SEEDS
        for defence in system.defences
    ]
