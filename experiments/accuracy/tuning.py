"""Trials on held-back training images, and which configuration was best."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

from pydantic import JsonValue

from experiments.accuracy.experiment import run
from experiments.accuracy.images import HELD_BACK, validation_digits
from experiments.accuracy.searches import IDEAS, SEARCHES, SEEDS, Search, Tried
from experiments.accuracy.setting import World
from experiments.paper.records import ResultFile

PART = "tuning"


@dataclass(frozen=True)
class Trial:
    """One configuration of a search on one seed: a measurement."""

    search: Search
    number: int
    seed: int
    part = PART
    alone = False

    @property
    def tried(self) -> Tried:
        return self.search.tried[self.number]

    @property
    def name(self) -> str:
        return f"{self.search.name} {self.number} seed {self.seed}"

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        wish, tried = self.search.wish, self.tried
        return {
            "search": self.search.name,
            "idea": tried.idea,
            "recipe": asdict(tried.recipe),
            "epsilon": wish.epsilon,
            "accountant": wish.accountant,
            "filter": self.search.filter,
            "held_back": HELD_BACK,
            "seed": self.seed,
        }

    @property
    def expected_seconds(self) -> float:
        return 20.0 if self.tried.recipe.batch_size is not None else 12.0

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        wish, tried = self.search.wish, self.tried
        if tried.geometry is not None:
            wish = replace(wish, geometry=tried.geometry)
        digits = validation_digits(data, self.search.filter)
        world = World(self.seed, filter=self.search.filter)
        outcome = run(wish, tried.recipe, digits, world)
        return {"accuracy": outcome.accuracies[-1], "noise": outcome.noise}


def trials() -> Sequence[Trial]:
    return [trial for search in (*SEARCHES, *IDEAS) for trial in trials_of(search)]


def trials_of(search: Search) -> Sequence[Trial]:
    numbers = range(len(search.tried))
    return [Trial(search, number, seed) for number in numbers for seed in SEEDS]


def is_whole(search: Search, results: ResultFile) -> bool:
    """Whether all was tried, and as the search has it now."""
    return all(results.holds(trial) for trial in trials_of(search))


def accuracy_of(tried: int, search: Search, results: ResultFile) -> float:
    """The mean over the seeds."""
    names = {Trial(search, tried, seed).name for seed in SEEDS}
    return mean(float(str(r.result["accuracy"])) for r in results.records if r.name in names)


def best_of(search: Search, results: ResultFile) -> Tried:
    numbers = range(len(search.tried))
    return search.tried[max(numbers, key=lambda n: accuracy_of(n, search, results))]
