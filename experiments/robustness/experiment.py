"""Some cases of one system under one defence, on one seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from experiments.accuracy.privacy import scale_for_record, scale_for_run
from experiments.robustness.fedavg import FedAvg
from experiments.robustness.fedperm import FedPerm, document_for
from experiments.robustness.scene import Deal, Score
from experiments.robustness.setting import ACCOUNTANT, RECORD_EPSILON, Case, Defence, System
from fedperm_cli.presets import LIGHT, PAPER_EPSILON


class Play(Protocol):
    def play(self, cases: Sequence[Case]) -> list[Score]: ...


@dataclass(frozen=True)
class Stage:
    """`laplace_scale` is 0 where there is no noise."""

    system: Play
    laplace_scale: float
    smallest_client: int


def stage(system: System, defence: Defence, deal: Deal, rounds: int) -> Stage:
    smallest = deal.smallest
    if system is System.FEDAVG:
        return Stage(FedAvg(deal, defence, LIGHT.d, rounds), 0.0, smallest)
    if system is System.RECORD:
        scale = scale_for_record(system.recipe, smallest, RECORD_EPSILON)
    else:
        scale = scale_for_run(ACCOUNTANT, LIGHT, PAPER_EPSILON)
    document = document_for(system, LIGHT, scale, smallest, defence)
    return Stage(FedPerm(deal, system, document, rounds), scale, smallest)
