"""How each algorithm trains: what was best on held-back training images."""

import math
from functools import cache

from experiments.accuracy.experiment import Wish
from experiments.accuracy.privacy import scale_for_run
from experiments.accuracy.searches import SEARCHES, Search
from experiments.accuracy.setting import Algorithm, Recipe
from experiments.accuracy.tuning import PART, best_of, is_whole
from experiments.paper.records import COMMITTED, read
from fedperm_cli.presets import PAPER_EPSILON
from fedperm_client.tasks.filters import FilterName

RECIPES = {
    Algorithm.FEDPERM: Recipe(learning_rate=30.0, clip=0.002, record_clip_norm=10.0),
    Algorithm.FEDAVG: Recipe(learning_rate=0.1, local_epochs=1, batch_size=64),
    Algorithm.CDP: Recipe(learning_rate=1.0, clip=0.02),
    Algorithm.LDP: Recipe(learning_rate=1.0, clip=0.005),
}
BY_RECORD = Recipe(learning_rate=0.1, clip=0.01, record_clip_norm=10.0)
"""Found by hand: for what no search was made for, and for questions other than how accurate a
model gets. With noise for one record its gradient must not move the mean far."""


def recipe_for(wish: Wish, images: FilterName) -> Recipe:
    """Of the search for this algorithm; for FedPerm of that with the most similar noise."""
    searches = [search for search in SEARCHES if _is_for(search, wish, images)]
    return _best(min(searches, key=lambda search: _distance(search.wish, wish)).name)


def _is_for(search: Search, wish: Wish, images: FilterName) -> bool:
    is_same = search.wish.algorithm is wish.algorithm and search.filter is images
    return is_same and search.wish.for_record == wish.for_record


def _distance(one: Wish, other: Wish) -> float:
    return abs(_log_scale(one) - _log_scale(other))


def _log_scale(wish: Wish) -> float:
    """Of Laplace noise for a run; one search serves all else. As with other algorithms, the recipe
    for the paper's epsilon serves all epsilons."""
    if wish.algorithm is not Algorithm.FEDPERM or wish.for_record:
        return 0.0
    return math.log(scale_for_run(wish.accountant, wish.geometry, PAPER_EPSILON))


@cache
def _best(name: str) -> Recipe:
    (search,) = [search for search in SEARCHES if search.name == name]
    results = read(COMMITTED, PART)
    if is_whole(search, results):
        return best_of(search, results).recipe
    return BY_RECORD if search.wish.for_record else RECIPES[search.wish.algorithm]
