"""The model from which all clients of a run start, made by the client's own code."""

from dataclasses import dataclass

from fedperm.run_document import ModelSpec
from fedperm_cli.client_code import client_code
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.specs import parse_task_options, required


@dataclass(frozen=True)
class StartingPoint:
    """What the document says of it, and its body."""

    spec: ModelSpec
    body: bytes


def starting_point(options: RunOptions) -> StartingPoint:
    """torch is imported here and only here: it takes seconds, and other commands do without."""
    with client_code("the initial model of a task is made by the client's code"):
        from fedperm_client.initial_model import initial_model  # noqa: PLC0415 (see above)
    task, given = required("--task", options.task), parse_task_options(options.option)
    made = initial_model(task, given, options.seed, options.data)
    return StartingPoint(made.spec, made.body)
