"""How each algorithm trains: what was best on held-back training images."""

import math
from functools import cache

from experiments.accuracy.experiment import Wish
from experiments.accuracy.privacy import scale_for_run
from experiments.accuracy.searches import SEARCHES, Search
from experiments.accuracy.setting import Algorithm, Recipe
from experiments.accuracy.tuning import PART, best_of, is_whole
from experiments.paper.records import COMMITTED, read
from fedperm.errors import ParameterError
from fedperm_cli.presets import PAPER_EPSILON
from fedperm_client.tasks.filters import FilterName


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
    if not is_whole(search, results):
        raise ParameterError(
            f"the search for {name} is not finished, so nobody knows how to train it",
            "run python -m experiments.paper --tune",
        )
    return best_of(search, results).recipe
