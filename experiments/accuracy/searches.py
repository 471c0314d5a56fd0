"""What was tried on held-back training images before any test image was looked at.

Every algorithm that is tuned gets as many configurations, on the same seeds. Beside the searches
there are ideas that the paper does not have, each compared with the first of its list.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from experiments.accuracy.experiment import Wish
from experiments.accuracy.setting import Algorithm, Recipe, Schedule
from fedperm.windows import Geometry
from fedperm_cli.presets import HEAVY, LIGHT, PAPER_EPSILON
from fedperm_client.tasks.filters import FilterName

SEEDS = (900,)
"""No reported figure has one of these."""
CONFIGURATIONS = 9
"""In each search."""
RECORD_EPSILON = 8.0
"""A quarter of the records at four times the epsilon: about the noise of 2 for all of them."""
RECORD_CLIP_NORM = 10.0


@dataclass(frozen=True)
class Tried:
    """One configuration; `idea` says in words what is new in it."""

    recipe: Recipe
    idea: str = ""
    filter: FilterName = FilterName.ORIENTATIONS
    geometry: Geometry | None = None


@dataclass(frozen=True)
class Search:
    name: str
    wish: Wish
    tried: Sequence[Tried]


def fedperm(geometry: Geometry, accountant: str) -> Wish:
    return Wish(Algorithm.FEDPERM, PAPER_EPSILON, geometry, accountant)


def _coordinate_clips(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    return [Tried(Recipe(rate, clip, RECORD_CLIP_NORM)) for clip, rate in product(clips, rates)]


def _batches(clip: float) -> Tried:
    """An epoch of small steps before the cut: nothing is then promised for a record."""
    return Tried(Recipe(0.1, clip, batch_size=64))


def _norm_clips(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    return [Tried(Recipe(rate, clip)) for clip, rate in product(clips, rates)]


SEARCHES = (
    Search(
        "fedavg",
        Wish(Algorithm.FEDAVG),
        [
            Tried(Recipe(rate, batch_size=size))
            for rate, size in [*product((0.03, 0.1, 0.3, 1.0), (64, 256)), (1.0, 1024)]
        ],
    ),
    Search(
        "cdp",
        Wish(Algorithm.CDP, PAPER_EPSILON),
        [
            *_norm_clips((0.002, 0.005, 0.01, 0.02, 0.05, 0.1), (1.0,)),
            Tried(Recipe(1.0, 0.01, client_share=0.5)),
            _batches(0.01),
            _batches(0.02),
        ],
    ),
    Search(
        "ldp",
        Wish(Algorithm.LDP, PAPER_EPSILON),
        [
            *_norm_clips((0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.1), (1.0,)),
            _batches(0.001),
        ],
    ),
    Search(
        "fedperm light paper",
        fedperm(LIGHT, "paper"),
        [*_coordinate_clips((0.0003, 0.0005, 0.001, 0.002), (3.0, 30.0)), _batches(0.0005)],
    ),
    Search(
        "fedperm heavy paper",
        fedperm(HEAVY, "paper"),
        [*_coordinate_clips((0.0005, 0.001, 0.002, 0.004), (3.0, 30.0)), _batches(0.001)],
    ),
    Search(
        "fedperm light default",
        fedperm(LIGHT, "default"),
        [*_coordinate_clips((0.0005, 0.001, 0.002, 0.004), (0.3, 3.0)), _batches(0.002)],
    ),
    Search(
        "fedperm heavy default",
        fedperm(HEAVY, "default"),
        [*_coordinate_clips((0.001, 0.002, 0.004, 0.01), (0.3, 3.0)), _batches(0.004)],
    ),
    Search(
        "fedperm record",
        Wish(Algorithm.FEDPERM, RECORD_EPSILON, LIGHT, for_record=True),
        [
            Tried(Recipe(rate, 0.01, norm))
            for rate, norm in [*product((0.03, 0.1, 0.3, 1.0), (3.0, 10.0)), (0.1, 5.0)]
        ],
    ),
)

_PLAIN = Recipe(3.0, 0.002, RECORD_CLIP_NORM)
_BY_RECORD = Recipe(0.1, 0.01, RECORD_CLIP_NORM)


def _afterwards(plain: Recipe) -> list[Tried]:
    """What the clients may do with the averages, at no cost of privacy."""
    return [
        Tried(plain, "as in the searches"),
        Tried(replace(plain, averages_models=True), "the mean of all models so far is used"),
        Tried(
            replace(
                plain, momentum=0.9, clip=plain.clip / 10, learning_rate=plain.learning_rate / 10
            ),
            "momentum 0.9, a tenth of the step",
        ),
        Tried(replace(plain, schedule=Schedule.FALLING), "steps that fall from 2 to 0"),
    ]


IDEAS = (
    Search(
        "ideas light default",
        fedperm(LIGHT, "default"),
        [
            *_afterwards(_PLAIN),
            Tried(
                Recipe(1.0, 0.002, None, local_epochs=5), "5 local steps: no promise for a record"
            ),
            Tried(_PLAIN, "the raw pixels", filter=FilterName.NONE),
            Tried(replace(_PLAIN, value_bits=6), "values of 6 bits"),
            Tried(replace(_PLAIN, value_bits=8), "values of 8 bits"),
            Tried(replace(_PLAIN, value_bits=16), "values of 16 bits"),
            Tried(
                _PLAIN, "the original FedPerm: one window, k1 = d", geometry=Geometry(7850, 7850, 1)
            ),
        ],
    ),
    Search(
        "ideas record",
        Wish(Algorithm.FEDPERM, RECORD_EPSILON, LIGHT, for_record=True),
        _afterwards(_BY_RECORD),
    ),
)
