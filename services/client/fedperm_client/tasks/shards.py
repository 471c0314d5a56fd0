"""Which part of the data a client has: by its own setting, or by the order of enrolment."""

from pathlib import Path

from fedperm.run_document import RunDocument
from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import TaskContext

_OPTION = "shards"
"""An option of all tasks: how many parts the data are cut into."""


def context_of(
    document: RunDocument, data_directory: Path, shard: int | None, ordinal: int
) -> TaskContext:
    """`shards` is left out of the task's own options; without it there are as many as clients
    are needed to start, or asked in a round."""
    options = dict(document.task.options)
    rounds = document.rounds
    shards = options.pop(_OPTION, max(rounds.start_with, rounds.clients_per_round))
    if type(shards) is not int or shards < 1:
        raise TaskError(f"the option {_OPTION} is {shards}", "give a whole number from 1 on")
    return TaskContext(
        options, ordinal % shards if shard is None else shard, shards, data_directory
    )
