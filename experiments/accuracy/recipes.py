"""How each algorithm trains: what was best on held-back training images (see `tuning`)."""

from experiments.accuracy.experiment import Wish
from experiments.accuracy.setting import Algorithm, Recipe

RECIPES = {
    Algorithm.FEDPERM: Recipe(learning_rate=30.0, clip=0.002, record_clip_norm=10.0),
    Algorithm.FEDAVG: Recipe(learning_rate=0.1, local_epochs=1, batch_size=64),
    Algorithm.CDP: Recipe(learning_rate=0.1, clip=1.0),
    Algorithm.LDP: Recipe(learning_rate=0.1, clip=1.0),
}
BY_RECORD = Recipe(learning_rate=0.1, clip=0.01, record_clip_norm=10.0)
"""FedPerm where the noise is for one record: its gradient must not move the mean far."""


def recipe_for(wish: Wish) -> Recipe:
    return BY_RECORD if wish.for_record else RECIPES[wish.algorithm]
