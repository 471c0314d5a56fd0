"""One row of the accuracy tables on one seed: a measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from experiments.accuracy.experiment import run
from experiments.accuracy.images import test_digits
from experiments.accuracy.recipes import recipe_for
from experiments.accuracy.rows import QUICK_ROWS, ROWS, SEEDS, Row
from experiments.accuracy.setting import CLIENTS, DELTA, ROUNDS, Recipe, World

PART = "accuracy"


@dataclass(frozen=True)
class Accuracy:
    row: Row
    recipe: Recipe
    seed: int
    part = PART
    alone = False

    @property
    def name(self) -> str:
        return f"{self.row.name} seed {self.seed}"

    @property
    def settings(self) -> Mapping[str, JsonValue]:
        wish = self.row.wish
        return {
            "row": self.row.name,
            "algorithm": wish.algorithm,
            "epsilon": wish.epsilon,
            "delta": DELTA,
            "accountant": wish.accountant,
            "for_record": wish.for_record,
            "k1": wish.geometry.k1,
            "k2": wish.geometry.k2,
            "recipe": asdict(self.recipe),
            "filter": self.row.filter,
            "clients": CLIENTS,
            "rounds": ROUNDS,
            "alpha": self._world.alpha,
            "seed": self.seed,
        }

    @property
    def expected_seconds(self) -> float:
        return 13.0 if self.recipe.batch_size is None else 30.0

    def run(self, data: Path) -> Mapping[str, JsonValue]:
        digits = test_digits(data, self.row.filter)
        outcome = run(self.row.wish, self.recipe, digits, self._world)
        return {
            "accuracy": outcome.accuracies[-1],
            "accuracies": [round(accuracy, 2) for accuracy in outcome.accuracies],
            "noise": outcome.noise,
            "smallest_client": outcome.smallest_client,
            "upload_megabytes": outcome.upload_megabytes,
            "privacy": dict(outcome.privacy),
        }

    @property
    def _world(self) -> World:
        return World(self.seed, filter=self.row.filter)


def seeds(*, quick: bool) -> Sequence[int]:
    return SEEDS[:1] if quick else SEEDS


def measurements(*, quick: bool) -> Sequence[Accuracy]:
    rows = QUICK_ROWS if quick else ROWS
    return [
        Accuracy(row, recipe_for(row.wish, row.filter), seed)
        for row in rows
        for seed in seeds(quick=quick)
    ]
