"""A trained model, tried on its task's public data."""

from dataclasses import dataclass
from pathlib import Path

from fedperm_cli.model.loading import task_of
from fedperm_cli.model.options import ModelOptions
from fedperm_cli.model.source import model_file


@dataclass(frozen=True)
class Evaluated:
    """Its fields are the command's JSON."""

    model: str
    task: str | None
    parameters: int
    records: int
    loss: float
    accuracy: float | None


def evaluate(place: Path, options: ModelOptions) -> Evaluated:
    """torch is imported here, and a task's code is run: it takes seconds."""
    source = model_file(place, options.run)
    task = task_of(options)
    from fedperm_client.model_store import read_model  # noqa: PLC0415 (see above)
    from fedperm_client.training.trained_model import tried_model  # noqa: PLC0415 (see above)

    tried = tried_model(task, read_model(source))
    return Evaluated(
        model=str(source),
        task=options.task,
        parameters=tried.parameters,
        records=tried.records,
        loss=tried.evaluation.loss,
        accuracy=tried.evaluation.accuracy,
    )
