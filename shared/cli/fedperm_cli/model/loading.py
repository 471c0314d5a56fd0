"""Models and tasks by the client's code. What is imported in functions brings torch: seconds."""

from typing import TYPE_CHECKING

from fedperm_cli.client_code import client_code
from fedperm_cli.errors import OptionsError
from fedperm_cli.model.options import ModelOptions
from fedperm_cli.run.specs import parse_task_options

if TYPE_CHECKING:
    from fedperm_client.tasks.task import Task

_WHY = "models are read by the client's code"


def task_of(options: ModelOptions) -> "Task":
    """In a part of the data that does not matter: only what is public is asked for."""
    if options.task is None:
        raise OptionsError("which task it is a model of is not said", "give --task")
    with client_code(_WHY):
        from fedperm_client.tasks.loading import make_task  # noqa: PLC0415 (see above)
        from fedperm_client.tasks.task import TaskContext  # noqa: PLC0415 (see above)

    return make_task(
        options.task, TaskContext(parse_task_options(options.option), 0, 1, options.data)
    )
