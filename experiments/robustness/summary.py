"""Scores of all seeds, cell by cell."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from pydantic import BaseModel

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
        """Then the accuracy is that of models that nobody went on with."""
        return self.stopped > 0


@dataclass(frozen=True)
class Played:
    """How a system was measured; `laplace_scale` is the mean over seeds."""

    rounds: int
    seeds: tuple[int, ...]
    laplace_scale: float


class Summary:
    def __init__(self, cells: Mapping[Place, Cell], played: Mapping[System, Played]) -> None:
        self.played = played
        self._cells = cells

    def __bool__(self) -> bool:
        return bool(self._cells)

    def cell(self, system: System, defence: Defence, attack: Attack, malicious: int) -> Cell | None:
        count = 0 if attack is Attack.NOBODY else malicious
        return self._cells.get(Place(system, defence, Case(attack, count)))


class _Settings(BaseModel):
    system: System
    defence: Defence
    rounds: int
    seed: int


class _Result(BaseModel):
    laplace_scale: float
    scores: dict[str, Score]


def summary_of(results: ResultFile) -> Summary:
    found = [
        (_Settings.model_validate(record.settings), _Result.model_validate(record.result))
        for record in results.records
    ]
    scores: dict[Place, list[Score]] = defaultdict(list)
    for settings, result in found:
        for name, score in result.scores.items():
            attack, _, malicious = name.partition("/")
            case = Case(Attack(attack), int(malicious))
            scores[Place(settings.system, settings.defence, case)].append(score)
    return Summary(
        {place: _cell(some) for place, some in scores.items()},
        {system: _played(system, found) for system in {settings.system for settings, _ in found}},
    )


def _played(system: System, found: Sequence[tuple[_Settings, _Result]]) -> Played:
    some = [(settings, result) for settings, result in found if settings.system is system]
    return Played(
        rounds=max(settings.rounds for settings, _ in some),
        seeds=tuple(sorted({settings.seed for settings, _ in some})),
        laplace_scale=fmean(result.laplace_scale for _, result in some),
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
