"""What a client is about to release, and how it is counted: read off the run's document.

The document says how the client trains (`promise_of`), which noise it draws (`noise_of`) and what
one round releases (`event_of`). `release_of` puts them together for the report. Nothing here needs
an accountant's libraries, so the aggregator may import it.
"""

from dataclasses import dataclass

from fedperm.errors import ParameterError
from fedperm.noise.law import GridLaplace, NoiseSampler, exact_delta, sampler_epsilon
from fedperm.noise.table_sampler import TableSampler
from fedperm.privacy.accountant import Accountant
from fedperm.privacy.events import COARSEST_GRID, MANY_STEPS, Rounds, ShuffledLaplace
from fedperm.privacy.record_level import LocalTraining
from fedperm.run_document import RunDocument, TrainingSpec

__all__ = ["Release", "event_of", "local_training", "noise_of", "promise_of", "release_of"]


@dataclass(frozen=True)
class Release:
    """What a client is about to release, and how it is to be counted."""

    rounds: Rounds
    delta: float
    accountant: Accountant
    noise: NoiseSampler
    training: LocalTraining | None = None

    def __post_init__(self) -> None:
        law, scale = self.noise.law, self.rounds.event.laplace_scale
        if law.laplace_scale != scale:
            raise ParameterError(
                f"noise of scale {law.laplace_scale:g} is counted as {scale:g}",
                "report the noise that is drawn",
            )
        if law.grid % COARSEST_GRID and law.integer_scale < MANY_STEPS:
            raise ParameterError(
                f"a grid of 1/{law.grid} shows more than is counted",
                f"choose a grid that is a multiple of {COARSEST_GRID}",
            )

    @property
    def sampler_epsilon(self) -> float:
        """What an inexact sampler adds to every epsilon."""
        positions = self.rounds.event.geometry.padded_d
        return sampler_epsilon(self.noise.eta, positions, self.rounds.count)

    @property
    def exact_delta(self) -> float:
        """The delta at which the exact mechanism is counted."""
        return exact_delta(self.delta, self.sampler_epsilon)


def release_of(
    document: RunDocument, noise: NoiseSampler, accountant: Accountant, delta: float
) -> Release:
    """All rounds of the run, as one client counts them: it may be chosen for each."""
    rounds = Rounds(event_of(document), document.rounds.count)
    return Release(rounds, delta, accountant, noise, promise_of(document))


def event_of(document: RunDocument) -> ShuffledLaplace:
    """One round."""
    return ShuffledLaplace(document.plan.geometry, document.noise.laplace_scale)


def noise_of(document: RunDocument) -> NoiseSampler | None:
    """None: the run has no noise, and gives no privacy."""
    noise = document.noise
    if noise.laplace_scale == 0:
        return None
    reach = document.plan.fixed_point.reach
    return TableSampler(GridLaplace(noise.laplace_scale, noise.grid, reach))


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
