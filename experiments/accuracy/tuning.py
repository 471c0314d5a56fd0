"""Trials on held-back training images, and which configuration was best."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

from pydantic import JsonValue

from experiments.accuracy.experiment import run
from experiments.accuracy.images import HELD_BACK, validation_digits
from experiments.accuracy.searches import IDEAS, SEARCHES, SEEDS, Search, Tried
from experiments.accuracy.setting import CLIENTS, ROUNDS, Algorithm, World
from experiments.paper.records import ResultFile
from fedperm.windows import Geometry

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
        """Of what is tried: a search that gets another order or more to try keeps what it has."""
        words = [self.search.name, self.tried.recipe.in_words, self.tried.idea, f"seed {self.seed}"]
        return "; ".join(word for word in words if word)

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        wish, tried = self.search.wish, self.tried
        return {
            "search": self.search.name,
            "idea": tried.idea,
            "recipe": asdict(tried.recipe),
            "epsilon": wish.epsilon,
            "for_record": wish.for_record,
            "accountant": wish.accountant,
            "k1": self._geometry.k1,
            "k2": self._geometry.k2,
            "filter": self.search.filter,
            "held_back": HELD_BACK,
            "clients": CLIENTS,
            "rounds": ROUNDS,
            "alpha": self._world.alpha,
            "seed": self.seed,
        }

    @property
    def expected_seconds(self) -> float:
        return 20.0 if self.tried.recipe.batch_size is not None else 12.0

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        wish = replace(self.search.wish, geometry=self._geometry)
        digits = validation_digits(data, self.search.filter)
        outcome = run(wish, self.tried.recipe, digits, self._world)
        return {"accuracy": outcome.accuracies[-1], "noise": outcome.noise}

    @property
    def _geometry(self) -> Geometry:
        return self.tried.geometry or self.search.wish.geometry

    @property
    def _world(self) -> World:
        return World(self.seed, filter=self.search.filter)


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
    """Of FedPerm only what a client of this project does; the others take whatever was best."""
    is_ours = search.wish.algorithm is Algorithm.FEDPERM
    numbers = [n for n, tried in enumerate(search.tried) if not (is_ours and tried.idea)]
    return search.tried[max(numbers, key=lambda n: accuracy_of(n, search, results))]
