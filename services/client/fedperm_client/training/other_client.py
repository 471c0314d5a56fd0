"""What must be the same at every client, compared with the one that has the next part."""

from dataclasses import replace

from torch import nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.loading import make_task
from fedperm_client.tasks.task import Examples, TaskContext
from fedperm_client.training.records import PUBLIC, are_same, public_records
from fedperm_client.training.task_check import check_is_another_clients, checked_model


def check_is_same_elsewhere(
    name: str, own: TaskContext, module: nn.Module, public: Examples | None
) -> None:
    """`module` and `public` are those of the task made with `own`. What cannot be made for another
    client is left alone: its files may be there only."""
    try:
        other = make_task(name, _next_part(own))
        others_module, others_public = checked_model(other), public_records(other)
    except TaskError:
        return
    check_is_another_clients(module, others_module)
    if not are_same(public, others_public):
        raise TaskError(
            f"{PUBLIC}() gives other records each time, or to each client: what is reported could "
            "not be compared, and might be of private records",
            "return the same public records to all: a fixed seed, and nothing of the shard",
        )


def _next_part(own: TaskContext) -> TaskContext:
    shards = max(2, own.shards)
    return replace(own, shard=(own.shard + 1) % shards, shards=shards)
