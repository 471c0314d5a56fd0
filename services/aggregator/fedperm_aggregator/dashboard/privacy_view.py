"""Privacy as far as the run's document tells it: the aggregator has no accountant. What a client
has spent of its budget is in the ledger that it reports."""

from fedperm.errors import ParameterError
from fedperm.noise.law import sampler_epsilon
from fedperm.noise.table_sampler import ACCURATE_BITS
from fedperm.privacy.record_level import NoRecordBound, RecordRelease, record_level
from fedperm.privacy.release import local_training
from fedperm.run_document import RunDocument
from fedperm_aggregator.dashboard.views import Privacy, RecordLevel

_MOST_ETA = 2.0 ** (1 - ACCURATE_BITS)
"""The error of the sampler that clients draw with is smaller; to know it takes its whole table."""


def privacy_view(document: RunDocument, rounds_so_far: int) -> Privacy | None:
    """None without noise: nothing is promised then."""
    noise, geometry = document.noise, document.plan.geometry
    if noise.laplace_scale == 0:
        return None
    return Privacy(
        delta=noise.delta,
        laplace_scale=noise.laplace_scale,
        unit_parameters=geometry.patterns * geometry.superwindow,
        pure_per_round=geometry.padded_d / noise.laplace_scale + _sampler_epsilon(document, 1),
        record=_record(document, rounds_so_far),
    )


def _record(document: RunDocument, so_far: int) -> RecordLevel:
    training = local_training(document.training, document.noise.clip)
    if training.why_unbounded is not None:
        words = NoRecordBound(training.why_unbounded).words
        return RecordLevel(so_far=None, at_end=None, words=words)
    try:
        so_far_epsilon = _epsilon(document, so_far) if so_far else 0.0
        at_end = _epsilon(document, document.rounds.count)
    except ParameterError as error:
        return RecordLevel(so_far=None, at_end=None, words=f"no bound: {error.message}")
    words = f"replacing one of a client's {training.records:,} records, or more"
    return RecordLevel(so_far=so_far_epsilon, at_end=at_end, words=words)


def _epsilon(document: RunDocument, rounds: int) -> float | None:
    noise, extra = document.noise, _sampler_epsilon(document, rounds)
    release = RecordRelease(noise.laplace_scale, rounds, noise.grid, extra)
    level = record_level(local_training(document.training, noise.clip), release, noise.delta)
    return None if isinstance(level, NoRecordBound) else level.epsilon


def _sampler_epsilon(document: RunDocument, rounds: int) -> float:
    return sampler_epsilon(_MOST_ETA, document.plan.geometry.padded_d, rounds)
