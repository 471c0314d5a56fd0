"""How much data the smallest client has: the record-level guarantee is for it."""

from collections.abc import Mapping
from pathlib import Path


def smallest_shard(
    task: str, options: Mapping[str, str | int | float | bool], shards: int, data: Path
) -> int:
    """torch is imported here, and data are read: it takes seconds."""
    from fedperm_client.tasks.loading import make_task  # noqa: PLC0415 (see above)
    from fedperm_client.tasks.task import TaskContext  # noqa: PLC0415 (see above)

    contexts = (TaskContext(options, shard, shards, data) for shard in range(shards))
    return min(len(make_task(task, context).training_data()) for context in contexts)
