"""What was tried on held-back training images before any test image was looked at.

Every algorithm gets as many configurations, on the same seeds, once with filtered images and once
with raw pixels. The best of a search is how its algorithm trains; where that has no number yet, see
`recipes`. Beside the searches there are ideas whose cost is not only training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from experiments.accuracy.experiment import Wish
from experiments.accuracy.setting import Algorithm, Recipe
from fedperm.windows import Geometry
from fedperm_cli.presets import HEAVY, LIGHT, PAPER_EPSILON
from fedperm_client.tasks.filters import FilterName

SEEDS = (900,)
"""No reported figure has one of these."""
CONFIGURATIONS = 12
"""In each search."""
RECORD_EPSILON = 2.0
RECORD_CLIP_NORM = 10.0


@dataclass(frozen=True)
class Tried:
    """One configuration; `idea` says in words what is new in it."""

    recipe: Recipe
    idea: str = ""
    geometry: Geometry | None = None


@dataclass(frozen=True)
class Search:
    name: str
    wish: Wish
    tried: Sequence[Tried]
    filter: FilterName = FilterName.ORIENTATIONS


def fedperm(geometry: Geometry, accountant: str) -> Wish:
    return Wish(Algorithm.FEDPERM, PAPER_EPSILON, geometry, accountant)


FILTERED_RATES, RAW_RATES = (0.03, 0.1, 0.3), (0.1, 0.3, 1.0)
"""Filtered images are about three times as long as raw ones."""


def _epochs(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    """An epoch of small steps before the cut: nothing is then promised for a record."""
    return [Tried(Recipe(rate, clip, batch_size=64)) for clip, rate in product(clips, rates)]


def _by_coordinate(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    """The single steps come with a promise for a record."""
    steps = [Tried(Recipe(100 * max(rates), clip, RECORD_CLIP_NORM)) for clip in clips]
    return [*_epochs(clips, rates), *steps]


def _by_norm(clips: Sequence[float], rates: Sequence[float]) -> list[Tried]:
    steps = [Tried(Recipe(3 * max(rates), clip)) for clip in clips]
    return [*_epochs(clips, rates), *steps]


def _unbounded(rates: Sequence[float]) -> list[Tried]:
    sizes = (64, 256, 1024)
    return [Tried(Recipe(rate, batch_size=size)) for rate, size in product(rates, sizes)]


def _by_record(rates: Sequence[float], norms: Sequence[float]) -> list[Tried]:
    return [Tried(Recipe(rate, 0.01, norm)) for rate, norm in product(rates, norms)]


CDP, LDP = Wish(Algorithm.CDP, PAPER_EPSILON), Wish(Algorithm.LDP, PAPER_EPSILON)
LIGHT_PAPER, HEAVY_PAPER = fedperm(LIGHT, "paper"), fedperm(HEAVY, "paper")
LIGHT_DEFAULT, HEAVY_DEFAULT = fedperm(LIGHT, "default"), fedperm(HEAVY, "default")
BY_RECORD = Wish(Algorithm.FEDPERM, RECORD_EPSILON, LIGHT, for_record=True)


def _filtered(name: str, wish: Wish, tried: Sequence[Tried]) -> Search:
    return Search(name, wish, tried)


def _raw(name: str, wish: Wish, tried: Sequence[Tried]) -> Search:
    return Search(f"raw {name}", wish, tried, FilterName.NONE)


SEARCHES = (
    _filtered("fedavg", Wish(Algorithm.FEDAVG), _unbounded((0.03, 0.1, 0.3, 1.0))),
    _filtered("cdp", CDP, _by_norm((0.01, 0.02, 0.05), FILTERED_RATES)),
    _filtered("ldp", LDP, _by_norm((0.0005, 0.001, 0.002), FILTERED_RATES)),
    _filtered(
        "fedperm light paper", LIGHT_PAPER, _by_coordinate((0.0003, 0.0005, 0.001), FILTERED_RATES)
    ),
    _filtered(
        "fedperm heavy paper", HEAVY_PAPER, _by_coordinate((0.0005, 0.001, 0.002), FILTERED_RATES)
    ),
    _filtered(
        "fedperm light default",
        LIGHT_DEFAULT,
        _by_coordinate((0.001, 0.002, 0.004), FILTERED_RATES),
    ),
    _filtered(
        "fedperm heavy default", HEAVY_DEFAULT, _by_coordinate((0.002, 0.004, 0.01), FILTERED_RATES)
    ),
    _filtered("fedperm record", BY_RECORD, _by_record((0.03, 0.1, 0.3, 1.0), (1.0, 3.0, 10.0))),
    _raw("fedavg", Wish(Algorithm.FEDAVG), _unbounded((0.1, 0.3, 1.0, 3.0))),
    _raw("cdp", CDP, _by_norm((0.02, 0.05, 0.1), RAW_RATES)),
    _raw("ldp", LDP, _by_norm((0.001, 0.002, 0.005), RAW_RATES)),
    _raw("fedperm light paper", LIGHT_PAPER, _by_coordinate((0.0005, 0.001, 0.002), RAW_RATES)),
    _raw("fedperm heavy paper", HEAVY_PAPER, _by_coordinate((0.001, 0.002, 0.004), RAW_RATES)),
    _raw("fedperm light default", LIGHT_DEFAULT, _by_coordinate((0.002, 0.004, 0.01), RAW_RATES)),
    _raw("fedperm heavy default", HEAVY_DEFAULT, _by_coordinate((0.004, 0.01, 0.02), RAW_RATES)),
)
IDEAS: tuple[Search, ...] = ()
