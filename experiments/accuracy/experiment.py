"""One algorithm with one amount of noise on one partition of the data."""

from dataclasses import dataclass

from experiments.accuracy.baselines import Averaging, Gaussian
from experiments.accuracy.document import document_of
from experiments.accuracy.fedperm import FedPerm
from experiments.accuracy.images import Digits
from experiments.accuracy.privacy import (
    gaussian_multiplier,
    report_of,
    scale_for_record,
    scale_for_run,
)
from experiments.accuracy.setting import DELTA, ROUNDS, Algorithm, Recipe, World
from experiments.accuracy.training import Rounds, train
from fedperm.privacy.record_level import RecordGuarantee
from fedperm.privacy.report import PrivacyReport
from fedperm_cli.presets import Preset
from fedperm_client.tasks.task import Examples

REMOVED, REPLACED = 1.0, 2.0
"""By how many clips a client that is removed, or replaced by any other, moves what is noised."""


@dataclass(frozen=True)
class Wish:
    """How much noise: none, or for a total epsilon; `for_record` where it is for one record."""

    algorithm: Algorithm
    recipe: Recipe
    epsilon: float | None = None
    preset: Preset = Preset.LIGHT
    accountant: str = "default"
    for_record: bool = False


@dataclass(frozen=True)
class Outcome:
    """`privacy` names every epsilon with its unit; `noise` is b, or z in units of the clip."""

    accuracies: tuple[float, ...]
    noise: float
    smallest_client: int
    privacy: dict[str, float | str]


def run(wish: Wish, digits: Digits, world: World) -> Outcome:
    parts = digits.cut(world)
    smallest = min(map(len, parts))
    if wish.algorithm is Algorithm.FEDPERM:
        return _fedperm(wish, digits, world, parts)
    noise = _gaussian(wish)
    algorithm = Averaging(wish.recipe, parts, world.seed, noise)
    return Outcome(
        _accuracies(algorithm, digits),
        0.0 if noise is None else noise.multiplier,
        smallest,
        _gaussian_privacy(wish),
    )


def _accuracies(algorithm: Rounds, digits: Digits) -> tuple[float, ...]:
    return tuple(train(algorithm, digits.judged))


def _fedperm(wish: Wish, digits: Digits, world: World, parts: tuple[Examples, ...]) -> Outcome:
    if wish.epsilon is None:
        raise ValueError("FedPerm without noise is FedAvg with clipped updates")
    smallest, geometry = min(map(len, parts)), wish.preset.geometry
    if wish.for_record:
        scale = scale_for_record(wish.recipe, smallest, wish.epsilon)
    else:
        scale = scale_for_run(wish.accountant, geometry, wish.epsilon)
    document = document_of(wish.recipe, geometry, scale, smallest)
    algorithm = FedPerm(document, parts, world.seed)
    return Outcome(
        _accuracies(algorithm, digits),
        scale,
        smallest,
        rows_of(report_of(document, wish.accountant)),
    )


def rows_of(report: PrivacyReport) -> dict[str, float | str]:
    """All epsilons of a client's 50 rounds side by side."""
    rows, record = report.rows, report.rows.record
    return {
        "accountant": report.accountant,
        "delta": DELTA,
        "paper_unit": rows.paper_unit.epsilon,
        "permutation_known": rows.permutation_known.epsilon,
        "whole_update": rows.whole_update.epsilon,
        "record": record.epsilon if isinstance(record, RecordGuarantee) else record.reason,
    }


def _gaussian(wish: Wish) -> Gaussian | None:
    if wish.epsilon is None:
        return None
    at_clients = wish.algorithm is Algorithm.LDP
    sensitivity = REPLACED if at_clients else REMOVED
    return Gaussian(gaussian_multiplier(wish.epsilon, ROUNDS, sensitivity), at_clients)


def _gaussian_privacy(wish: Wish) -> dict[str, float | str]:
    if wish.epsilon is None:
        return {"none": "no noise, no privacy"}
    unit = "whole_update" if wish.algorithm is Algorithm.LDP else "participant"
    return {"accountant": "gaussian-pld", "delta": DELTA, unit: wish.epsilon}
