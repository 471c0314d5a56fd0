"""The model from which all clients of a run start, made by the client's own code."""

from dataclasses import dataclass
from pathlib import Path

from fedperm.run_document import ModelSpec, TaskSpec
from fedperm_cli.errors import MissingExtraError


@dataclass(frozen=True)
class StartingPoint:
    """What the document says of it, and its body."""

    spec: ModelSpec
    body: bytes


def starting_point(task: TaskSpec, seed: int, data: Path) -> StartingPoint:
    """torch is imported here and only here: it takes seconds, and other commands do without."""
    try:
        from fedperm_client.initial_model import initial_model  # noqa: PLC0415 (see above)
    except ImportError:
        raise MissingExtraError(
            "the initial model of a task is made by the client's code, which is not installed",
            "pip install 'fedperm-cli[tasks]', or give --document and --initial-model",
        ) from None
    made = initial_model(task.name, task.options, seed, data)
    return StartingPoint(made.spec, made.body)
