"""What was tried on held-back training images before any test image was looked at.

Every algorithm gets as many configurations, on the same seeds, with filtered images and with raw
pixels: a grid, and then a second look at its best. The best of all is how the algorithm trains.
Beside the searches there are ideas about more than training.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import product

from experiments.accuracy.experiment import Wish
from experiments.accuracy.setting import Algorithm, Recipe, Schedule
from fedperm.windows import Geometry
from fedperm_cli.presets import HEAVY, LIGHT, PAPER_EPSILON
from fedperm_client.tasks.filters import FilterName

SEEDS = (900,)
"""No reported figure has one of these."""
CONFIGURATIONS = 18
"""In each search."""
RECORD_EPSILON = 2.0
RECORD_CLIP_NORM = 10.0


class Idea(StrEnum):
    MEAN = "the mean of all models so far is used"
    MOMENTUM = "momentum 0.9, a tenth of the step"
    FALLING = "steps that fall from 2 to 0"
    FALLING_TWICE = "steps that fall from 4 to 0"


@dataclass(frozen=True)
class Tried:
    """One configuration; `idea` says in words what is new in it."""

    recipe: Recipe
    idea: str = ""
    geometry: Geometry | None = None


@dataclass(frozen=True)
class Search:
    """A grid first, then a second look at its best, which is known by its number once the grid was
    tried."""

    name: str
    wish: Wish
    grid: Sequence[Tried]
    filter: FilterName = FilterName.ORIENTATIONS
    best_of_grid: int | None = None

    @cached_property
    def tried(self) -> Sequence[Tried]:
        if self.best_of_grid is None:
            return self.grid
        return [*self.grid, *_second_look(self.grid[self.best_of_grid].recipe)]


def _second_look(best: Recipe) -> list[Tried]:
    """What clients do with the averages costs no privacy."""
    falling = replace(best, schedule=Schedule.FALLING)
    return [
        Tried(replace(best, averages_models=True), Idea.MEAN),
        Tried(replace(_lengthened(best, 0.1), momentum=0.9), Idea.MOMENTUM),
        Tried(falling, Idea.FALLING),
        Tried(_lengthened(falling, 2.0), Idea.FALLING_TWICE),
        Tried(_lengthened(best, 1.5)),
        Tried(replace(best, learning_rate=best.learning_rate / 2)),
    ]


def _lengthened(recipe: Recipe, times: float) -> Recipe:
    """A client moves so many times as far."""
    return replace(recipe, learning_rate=times * recipe.learning_rate, clip=times * recipe.clip)


def fedperm(geometry: Geometry, accountant: str) -> Wish:
    return Wish(Algorithm.FEDPERM, PAPER_EPSILON, geometry, accountant)


def _epochs(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    """An epoch of small steps before the cut: nothing is then promised for a record."""
    return [Tried(Recipe(rate, clip, batch_size=64)) for clip, rate in product(clips, rates)]


def _by_coordinate(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    """The single steps come with a promise for a record."""
    steps = [Tried(Recipe(30.0, clip, RECORD_CLIP_NORM)) for clip in clips]
    return [*_epochs(clips, rates), *steps]


def _by_norm(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    steps = [Tried(Recipe(1.0, clip)) for clip in clips]
    return [*_epochs(clips, rates), *steps]


def _unbounded(rates: Sequence[float]) -> list[Tried]:
    sizes = (64, 256, 1024)
    return [Tried(Recipe(rate, batch_size=size)) for rate, size in product(rates, sizes)]


def _by_record(rates: Sequence[float], norms: Sequence[float]) -> list[Tried]:
    return [Tried(Recipe(rate, 0.01, norm)) for rate, norm in product(rates, norms)]


FEDAVG = Wish(Algorithm.FEDAVG)
CDP, LDP = Wish(Algorithm.CDP, PAPER_EPSILON), Wish(Algorithm.LDP, PAPER_EPSILON)
LIGHT_PAPER, HEAVY_PAPER = fedperm(LIGHT, "paper"), fedperm(HEAVY, "paper")
LIGHT_DEFAULT, HEAVY_DEFAULT = fedperm(LIGHT, "default"), fedperm(HEAVY, "default")
BY_RECORD = Wish(Algorithm.FEDPERM, RECORD_EPSILON, LIGHT, for_record=True)


def _filtered(name: str, wish: Wish, grid: Sequence[Tried], *, best: int) -> Search:
    return Search(name, wish, grid, FilterName.ORIENTATIONS, best)


def _raw(name: str, wish: Wish, grid: Sequence[Tried], *, best: int) -> Search:
    return Search(f"raw {name}", wish, grid, FilterName.NONE, best)


SEARCHES = (
    _filtered("fedavg", FEDAVG, _unbounded((0.03, 0.1, 0.3, 1.0)), best=6),
    _filtered("cdp", CDP, _by_norm((0.01, 0.02, 0.05), (0.01, 0.03, 0.1)), best=3),
    _filtered("ldp", LDP, _by_norm((0.0002, 0.0005, 0.001), (0.01, 0.03, 0.1)), best=0),
    _filtered(
        "fedperm light paper",
        LIGHT_PAPER,
        _by_coordinate((0.0003, 0.0005, 0.001), (0.01, 0.03, 0.1)),
        best=3,
    ),
    _filtered(
        "fedperm heavy paper",
        HEAVY_PAPER,
        _by_coordinate((0.0005, 0.001, 0.002), (0.03, 0.1, 0.3)),
        best=4,
    ),
    _filtered(
        "fedperm light default",
        LIGHT_DEFAULT,
        _by_coordinate((0.001, 0.002, 0.004), (0.03, 0.1, 0.3)),
        best=4,
    ),
    _filtered(
        "fedperm heavy default",
        HEAVY_DEFAULT,
        _by_coordinate((0.004, 0.01, 0.02), (0.1, 0.3, 1.0)),
        best=4,
    ),
    _filtered(
        "fedperm record", BY_RECORD, _by_record((0.03, 0.1, 0.3, 1.0), (1.0, 3.0, 10.0)), best=5
    ),
    _raw("fedavg", FEDAVG, _unbounded((0.1, 0.3, 1.0, 3.0)), best=6),
    _raw("cdp", CDP, _by_norm((0.02, 0.05, 0.1), (0.03, 0.1, 0.3)), best=4),
    _raw("ldp", LDP, _by_norm((0.002, 0.005, 0.01), (0.03, 0.1, 0.3)), best=3),
    _raw(
        "fedperm light paper",
        LIGHT_PAPER,
        _by_coordinate((0.0005, 0.001, 0.002), (0.03, 0.1, 0.3)),
        best=4,
    ),
    _raw(
        "fedperm heavy paper",
        HEAVY_PAPER,
        _by_coordinate((0.001, 0.002, 0.004), (0.1, 0.3, 1.0)),
        best=4,
    ),
    _raw(
        "fedperm light default",
        LIGHT_DEFAULT,
        _by_coordinate((0.002, 0.004, 0.01), (0.3, 1.0, 3.0)),
        best=4,
    ),
    _raw(
        "fedperm heavy default",
        HEAVY_DEFAULT,
        _by_coordinate((0.01, 0.02, 0.05), (0.3, 1.0, 3.0)),
        best=4,
    ),
)

HALF_OF_CLIENTS = "half of the clients in a round"
_LIGHT_PAPER = Recipe(0.03, 0.0005, batch_size=64)
_LIGHT_DEFAULT = Recipe(0.1, 0.002, batch_size=64)
_CDP = Recipe(0.03, 0.02, batch_size=64)
_LDP = Recipe(0.03, 0.0005, batch_size=64)
IDEAS = (
    Search(
        "ideas: fedperm light default",
        LIGHT_DEFAULT,
        [
            Tried(_LIGHT_DEFAULT, "as in the grid"),
            Tried(replace(_LIGHT_DEFAULT, local_epochs=2), "two epochs a round"),
            Tried(replace(_LIGHT_DEFAULT, batch_size=16), "batches of 16"),
            Tried(Recipe(1.0, 0.002, local_epochs=5), "5 full-batch steps a round"),
            Tried(replace(_LIGHT_DEFAULT, value_bits=6), "values of 6 bits"),
            Tried(replace(_LIGHT_DEFAULT, value_bits=8), "values of 8 bits"),
            Tried(replace(_LIGHT_DEFAULT, value_bits=16), "values of 16 bits"),
            Tried(
                _LIGHT_DEFAULT,
                "the original FedPerm: one window, k1 = d",
                geometry=Geometry(7850, 7850, 1),
            ),
        ],
    ),
    Search(
        "ideas: cdp",
        CDP,
        [
            Tried(_CDP, "as in the grid"),
            Tried(replace(_CDP, client_share=0.5), HALF_OF_CLIENTS),
        ],
    ),
    *(
        Search(
            f"ideas: {name}",
            wish,
            [Tried(recipe, "16 directions, each once, in place of 8, each twice")],
            FilterName.FINE_ORIENTATIONS,
        )
        for name, wish, recipe in (
            ("fedperm light default", LIGHT_DEFAULT, _LIGHT_DEFAULT),
            ("fedperm light paper", LIGHT_PAPER, _LIGHT_PAPER),
            ("cdp", CDP, _CDP),
            ("ldp", LDP, _LDP),
        )
    ),
)
"""What takes longer than an epoch, or changes more than training: no recipe has it."""
