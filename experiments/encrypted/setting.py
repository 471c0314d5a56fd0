"""Which federation is run."""

from dataclasses import dataclass, replace
from pathlib import Path

from experiments.accuracy.experiment import Wish
from experiments.accuracy.privacy import scale_for_run
from experiments.accuracy.recipes import recipe_for
from experiments.accuracy.setting import Algorithm, Recipe
from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm_cli.demo.options import Dataset, DemoOptions, run_options
from fedperm_cli.presets import LIGHT, PAPER_EPSILON
from fedperm_cli.recipes import images_of
from fedperm_cli.run.options import RunOptions
from fedperm_client.tasks.filters import FilterName

_DEADLINE_SECONDS = 900.0
"""All clients are to be in every sum, however slow the machine."""


@dataclass(frozen=True)
class Setting:
    """The paper's light setting. The noise is that of the whole experiment of 50 rounds, of which
    these are the first."""

    clients: int
    rounds: int
    data: Path
    seed: int = 20
    dataset: Dataset = Dataset.MNIST
    filter: FilterName = FilterName.ORIENTATIONS
    key_bits: int = DEFAULT_KEY_BITS
    accountant: str = "default"
    epsilon: float = PAPER_EPSILON

    @property
    def recipe(self) -> Recipe:
        """That of the accuracy tables."""
        wish = Wish(Algorithm.FEDPERM, self.epsilon, LIGHT, self.accountant)
        return recipe_for(wish, self.filter)

    @property
    def demo(self) -> DemoOptions:
        return DemoOptions(
            clients=self.clients,
            rounds=self.rounds,
            dataset=self.dataset,
            seed=self.seed,
            k1=LIGHT.k1,
            k2=LIGHT.k2,
            epsilon=self.epsilon,
            key_bits=self.key_bits,
            data=self.data,
            insecure_test_key=self.key_bits < DEFAULT_KEY_BITS,
        )

    def run(self, min_records: int) -> RunOptions:
        demo, recipe = self.demo, self.recipe
        return replace(
            run_options(demo, min_records),
            option=[*images_of(demo), f"filter={self.filter}"],
            accountant=self.accountant,
            epsilon=None,
            laplace_scale=scale_for_run(self.accountant, LIGHT, self.epsilon),
            learning_rate=recipe.learning_rate,
            local_epochs=recipe.local_epochs,
            batch_size=recipe.batch_size,
            clip=recipe.clip,
            clip_norm_record=recipe.record_clip_norm,
            value_bits=recipe.value_bits,
            deadline_seconds=_DEADLINE_SECONDS,
        )
