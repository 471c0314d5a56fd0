"""From a wanted epsilon to noise, and from noise to every epsilon, in its unit."""

import dp_accounting  # type: ignore[import-untyped]
from dp_accounting.pld import PLDAccountant  # type: ignore[import-untyped]

from experiments.accuracy.setting import DELTA, ROUNDS, Recipe
from fedperm.errors import ParameterError
from fedperm.privacy.calibration import laplace_scale
from fedperm.privacy.record_level import LocalTraining, NoRecordBound, laplace_scale_for_record
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.report import PrivacyReport, privacy_report
from fedperm.privacy.run_release import noise_of, release_of
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry


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


def gaussian_multiplier(epsilon: float, rounds: int, sensitivity: float) -> float:
    """z, in units of the clip, for a total of (epsilon, DELTA) over so many releases of what one
    client moves by `sensitivity` clips."""

    def releases(ratio: float) -> dp_accounting.DpEvent:
        one = dp_accounting.GaussianDpEvent(ratio)
        return dp_accounting.SelfComposedDpEvent(one, rounds)

    ratio = dp_accounting.calibrate_dp_mechanism(PLDAccountant, releases, epsilon, DELTA)
    return sensitivity * float(ratio)


def report_of(document: RunDocument, accountant: str) -> PrivacyReport:
    noise = noise_of(document)
    if noise is None:
        raise ParameterError("the run has no noise", "there is nothing to report")
    return privacy_report(release_of(document, noise, accountant_named(accountant), DELTA))
