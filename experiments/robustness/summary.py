"""Scores of all seeds, cell by cell."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

from pydantic import TypeAdapter

from experiments.paper.records import ResultFile
from experiments.robustness.scene import Score
from experiments.robustness.setting import Attack, Case, Defence, System


@dataclass(frozen=True)
class Place:
    system: System
    defence: Defence
    case: Case


@dataclass(frozen=True)
class Cell:
    """Means over seeds; `stopped` is on how many of them all clients refused an average."""

    accuracy: float
    deviation: float
    backdoor: float
    stopped: int
    seeds: int

    @property
    def stops(self) -> bool:
        return 2 * self.stopped > self.seeds


class Summary:
    def __init__(self, cells: Mapping[Place, Cell], scales: Mapping[System, float]) -> None:
        """`scales` are the mean Laplace scales."""
        self.scales = scales
        self._cells = cells

    def __bool__(self) -> bool:
        return bool(self._cells)

    def cell(self, system: System, defence: Defence, attack: Attack, malicious: int) -> Cell | None:
        count = 0 if attack is Attack.NOBODY else malicious
        return self._cells.get(Place(system, defence, Case(attack, count)))


def summary_of(results: ResultFile) -> Summary:
    scores: dict[Place, list[Score]] = defaultdict(list)
    scales: dict[System, list[float]] = defaultdict(list)
    for record in results.records:
        system = System(str(record.settings["system"]))
        defence = Defence(str(record.settings["defence"]))
        scales[system].append(TypeAdapter(float).validate_python(record.result["laplace_scale"]))
        played = TypeAdapter(dict[str, Score]).validate_python(record.result["scores"])
        for name, score in played.items():
            attack, _, malicious = name.partition("/")
            scores[Place(system, defence, Case(Attack(attack), int(malicious)))].append(score)
    return Summary(
        {place: _cell(some) for place, some in scores.items()},
        {system: fmean(some) for system, some in scales.items()},
    )


def _cell(scores: list[Score]) -> Cell:
    accuracies = [score.accuracy for score in scores]
    return Cell(
        fmean(accuracies),
        stdev(accuracies) if len(accuracies) > 1 else 0.0,
        fmean(score.backdoor for score in scores),
        sum(score.stopped_in is not None for score in scores),
        len(scores),
    )
