"""What a run makes a client release, read off the run's document."""

from fedperm.noise.law import GridLaplace
from fedperm.noise.sampler import NoiseSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.record_level import LocalTraining
from fedperm.privacy.report import Release
from fedperm.run_document import RunDocument, TrainingSpec


def noise_of(document: RunDocument) -> NoiseSampler | None:
    """None: the run has no noise, and gives no privacy."""
    noise = document.noise
    if noise.laplace_scale == 0:
        return None
    reach = document.plan.fixed_point.reach
    return TableSampler(GridLaplace(noise.laplace_scale, noise.grid, reach))


def event_of(document: RunDocument) -> ShuffledLaplace:
    """One round."""
    return ShuffledLaplace(document.plan.geometry, document.noise.laplace_scale)


def promise_of(document: RunDocument) -> LocalTraining:
    """The training that the record-level guarantee speaks of."""
    return local_training(document.training, document.noise.clip)


def local_training(training: TrainingSpec, clip: float) -> LocalTraining:
    """As it is counted: that of the smallest client that is admitted."""
    return LocalTraining(
        learning_rate=training.learning_rate,
        clip=clip,
        records=training.min_records,
        clip_norm=training.record_clip_norm,
        local_steps=training.local_epochs,
        full_batch=training.batch_size is None,
    )


def release_of(
    document: RunDocument, noise: NoiseSampler, accountant: Accountant, delta: float
) -> Release:
    """All rounds of the run, as one client counts them: it may be chosen for each."""
    rounds = Rounds(event_of(document), document.rounds.count)
    return Release(rounds, delta, accountant, noise, promise_of(document))
