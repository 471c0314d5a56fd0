"""The robustness part of the results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from experiments.robustness.experiment import stage
from experiments.robustness.scene import mnist_deal
from experiments.robustness.setting import (
    MALICIOUS,
    SEEDS,
    Defence,
    System,
    cases,
)

_SECONDS_A_CASE_AND_ROUND = 0.12
_QUICK_ROUNDS = 5
_THREE = (3,)


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
            "recipe": asdict(self.system.recipe),
        }

    @property
    def expected_seconds(self) -> float:
        played = len(cases(self.system, self.malicious)) * self.rounds
        return _SECONDS_A_CASE_AND_ROUND * played

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        made = stage(self.system, self.defence, mnist_deal(data, self.seed), self.rounds)
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
    """The paper's bound, and the setting by record, are attacked by 3 clients only."""
    if quick:
        return [
            RobustnessMeasurement(System.LIGHT, Defence.CENTRED, SEEDS[0], _THREE, _QUICK_ROUNDS),
            RobustnessMeasurement(System.FEDAVG, Defence.MEDIAN, SEEDS[0], _THREE, 1),
        ]
    return [
        RobustnessMeasurement(system, defence, seed, _malicious(system, defence), system.rounds)
        for seed in SEEDS
        for system in System
        for defence in system.defences
    ]


def _malicious(system: System, defence: Defence) -> tuple[int, ...]:
    return _THREE if system is System.RECORD or defence is Defence.PAPER else MALICIOUS
