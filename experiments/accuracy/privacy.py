"""From a wanted epsilon to noise, and from noise to every epsilon, in its unit."""

from functools import lru_cache

from experiments.accuracy.setting import DELTA, ROUNDS, Recipe
from fedperm.errors import ParameterError
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.record_level import (
    LocalTraining,
    NoRecordBound,
    RecordGuarantee,
    laplace_scale_for_record,
)
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import noise_of, release_of
from fedperm.privacy.report import privacy_report
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry


@lru_cache
def scale_for_run(accountant: str, geometry: Geometry, epsilon: float) -> float:
    """b for a total in the paper's unit."""
    return laplace_scale(accountant_named(accountant), geometry, ROUNDS, epsilon, DELTA)


def scale_for_record(recipe: Recipe, smallest: int, epsilon: float) -> float:
    """b for a total for one record of the smallest client, which has `smallest` of them."""
    training = LocalTraining(recipe.learning_rate, recipe.clip, smallest, recipe.record_clip_norm)
    scale = laplace_scale_for_record(training, epsilon=epsilon, delta=DELTA, rounds=ROUNDS)
    if isinstance(scale, NoRecordBound):
        raise ParameterError(f"no noise protects a record: {scale.reason}", "clip gradients")
    return scale


def privacy_of(document: RunDocument, accountant: str) -> dict[str, float | str]:
    """All epsilons of a client's rounds side by side, each named by its unit."""
    noise = noise_of(document)
    if noise is None:
        raise ParameterError("the run has no noise", "there is nothing to report")
    report = privacy_report(release_of(document, noise, accountant_named(accountant), DELTA))
    rows, record = report.rows, report.rows.record
    return {
        "accountant": report.accountant,
        "delta": DELTA,
        "paper_unit": rows.paper_unit.epsilon,
        "permutation_known": rows.permutation_known.epsilon,
        "whole_update": rows.whole_update.epsilon,
        "record": record.epsilon if isinstance(record, RecordGuarantee) else record.reason,
    }
