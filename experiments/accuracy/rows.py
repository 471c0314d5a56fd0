"""The rows of the accuracy tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from experiments.accuracy.experiment import Wish
from experiments.accuracy.setting import Algorithm
from fedperm.privacy.registry import ACCOUNTANTS, accountant_named
from fedperm.windows import Geometry
from fedperm_cli.presets import PAPER_EPSILON, Preset
from fedperm_client.tasks.filters import FilterName

SEEDS = (40, 41, 42, 43, 44)
"""Nothing was tuned on these, and nothing was measured with them before the recipes were fixed."""
EPSILONS = (1.0, 2.0, 4.0, 8.0)
MAIN_ACCOUNTANTS = ("paper", "default")
OTHER_ACCOUNTANTS = tuple(
    accountant.name
    for accountant in ACCOUNTANTS
    if accountant.name not in (*MAIN_ACCOUNTANTS, "clones-pld")  # clones-pld is the default here
)
GUARANTEES = tuple(
    name for name in OTHER_ACCOUNTANTS if not accountant_named(name).reproduction_only
)
"""Other forms of the paper's chain are for its own epsilon only."""
COSTS = tuple(
    Geometry(7850, k1, k2)
    for k1, k2 in ((100, 1), (200, 1), (800, 1), (800, 4), (1600, 10), (7850, 1))
)
"""Beside light and heavy. The last is the original FedPerm, without windows."""


class Table(StrEnum):
    PAPER_UNIT = "paper's unit"
    RECORD = "record"
    COST = "cost"
    RAW = "raw"


@dataclass(frozen=True)
class Row:
    """`setting` is light, heavy or the pair k1, k2."""

    table: Table
    wish: Wish
    setting: str = ""
    filter: FilterName = FilterName.ORIENTATIONS

    @property
    def name(self) -> str:
        wish = self.wish
        words = [self.table, wish.algorithm, self.setting]
        if wish.algorithm is Algorithm.FEDPERM and not wish.for_record:
            words.append(wish.accountant)
        if wish.epsilon is not None:
            words.append(f"epsilon {wish.epsilon:g}")
        return " ".join(word for word in words if word)


def fedperm_row(
    preset: Preset, accountant: str, epsilon: float, table: Table = Table.PAPER_UNIT
) -> Row:
    wish = Wish(Algorithm.FEDPERM, epsilon, preset.geometry, accountant)
    return Row(table, wish, preset)


def _baselines(epsilons: Sequence[float]) -> list[Row]:
    return [
        Row(Table.PAPER_UNIT, Wish(algorithm, epsilon))
        for epsilon in epsilons
        for algorithm in (Algorithm.CDP, Algorithm.LDP)
    ]


def _fedperm(accountants: Sequence[str], epsilons: Sequence[float]) -> list[Row]:
    return [
        fedperm_row(preset, accountant, epsilon)
        for epsilon in epsilons
        for accountant in accountants
        for preset in Preset
    ]


def _by_record(epsilons: Sequence[float]) -> list[Row]:
    return [
        Row(Table.RECORD, Wish(Algorithm.FEDPERM, epsilon, for_record=True), Preset.LIGHT)
        for epsilon in epsilons
    ]


def _by_cost() -> list[Row]:
    return [
        Row(
            Table.COST,
            Wish(Algorithm.FEDPERM, PAPER_EPSILON, geometry),
            f"k1={geometry.k1} k2={geometry.k2}",
        )
        for geometry in COSTS
    ]


def _raw() -> list[Row]:
    """The paper's inputs."""
    wishes = [
        (Wish(Algorithm.FEDAVG), ""),
        *[(Wish(a, PAPER_EPSILON), "") for a in (Algorithm.CDP, Algorithm.LDP)],
        *[
            (Wish(Algorithm.FEDPERM, PAPER_EPSILON, preset.geometry, accountant), preset)
            for preset in Preset
            for accountant in MAIN_ACCOUNTANTS
        ],
    ]
    return [Row(Table.RAW, wish, setting, FilterName.NONE) for wish, setting in wishes]


FEDAVG = Row(Table.PAPER_UNIT, Wish(Algorithm.FEDAVG))
_OTHER_EPSILONS = tuple(epsilon for epsilon in EPSILONS if epsilon != PAPER_EPSILON)
ROWS = (
    FEDAVG,
    *_fedperm(MAIN_ACCOUNTANTS, [PAPER_EPSILON]),
    *_by_record([2.0]),
    *_baselines([PAPER_EPSILON]),
    *_raw(),
    *_by_record([0.5, 1.0, 4.0, 8.0]),
    *_baselines(_OTHER_EPSILONS),
    *_fedperm(MAIN_ACCOUNTANTS, _OTHER_EPSILONS),
    *_fedperm(OTHER_ACCOUNTANTS, [PAPER_EPSILON]),
    *_by_cost(),
    *_fedperm(GUARANTEES, _OTHER_EPSILONS),
)
"""What matters most comes first: a plan that is stopped early has it."""

QUICK_ROWS = (
    FEDAVG,
    *_baselines([PAPER_EPSILON]),
    *_fedperm(MAIN_ACCOUNTANTS, [PAPER_EPSILON]),
    *_by_record([2.0]),
)
