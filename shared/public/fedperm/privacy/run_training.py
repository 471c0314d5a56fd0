"""The training that a run's record-level guarantee speaks of, read off its document."""

from fedperm.privacy.record_level import LocalTraining
from fedperm.run_document import TrainingSpec


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
