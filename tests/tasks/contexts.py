"""Contexts of tasks, as a client makes them."""

from pathlib import Path

from fedperm_client.tasks.task import TaskContext


def context(
    options: dict[str, object] | None = None, shard: int = 0, shards: int = 1, data: Path = Path()
) -> TaskContext:
    return TaskContext(options or {}, shard, shards, data)
