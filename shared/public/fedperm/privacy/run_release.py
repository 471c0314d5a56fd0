"""What a run makes a client release, read off the run's document."""

from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.record_level import LocalTraining
from fedperm.privacy.report import Release
from fedperm.privacy.run_training import local_training
from fedperm.run_document import RunDocument


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


def release_of(
    document: RunDocument, noise: NoiseSampler, accountant: Accountant, delta: float
) -> Release:
    """All rounds of the run, as one client counts them: it may be chosen for each."""
    rounds = Rounds(event_of(document), document.rounds.count)
    return Release(rounds, delta, accountant, noise, promise_of(document))
