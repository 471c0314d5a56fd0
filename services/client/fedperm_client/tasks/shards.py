"""Which part of the data a client has: by its own setting, or by the order of enrolment."""

from dataclasses import replace
from pathlib import Path

from fedperm.run_document import RunDocument
from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import TaskContext

SHARDS = "shards"
"""An option that all tasks have: how many parts the data are cut into."""


def context_of(
    document: RunDocument, data_directory: Path, shard: int | None, ordinal: int
) -> TaskContext:
    """Without the option there are as many shards as clients are needed to start, or asked in a
    round."""
    options, rounds = document.task.options, document.rounds
    shards = options.get(SHARDS, max(rounds.start_with, rounds.clients_per_round))
    if type(shards) is not int or shards < 1:
        raise TaskError(f"the option {SHARDS} is {shards}", "give a whole number from 1 on")
    own = ordinal % shards if shard is None else shard
    return TaskContext(options, own, shards, data_directory)


def without_shards(context: TaskContext) -> TaskContext:
    """With the task's own options only."""
    own = {name: value for name, value in context.options.items() if name != SHARDS}
    return replace(context, options=own)
