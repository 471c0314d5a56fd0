"""What a client is to do next: a pure function of what is stored and what it has done."""

from fedperm.errors import ConflictError
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.records import Progress


def next_task(progress: Progress, client: str, settled: int) -> Task:
    """`settled` is the last round that the client has dealt with."""
    if settled > progress.settled:
        raise ConflictError(
            f"round {settled} is not settled here, only {progress.settled} rounds are",
            "this is not the aggregator that you had, or it lost its database: ask its operator",
        )
    if settled < progress.settled:
        return Task(kind=TaskKind.SETTLE, round=settled + 1, run_state=progress.run_state)
    if client in progress.asked and client not in progress.sent:
        return Task(
            kind=TaskKind.TRAIN,
            round=progress.number,
            epoch=progress.epoch,
            deadline_at=progress.deadline_at,
            run_state=progress.run_state,
        )
    over = progress.run_state.is_over
    return Task(kind=TaskKind.FINISH if over else TaskKind.WAIT, run_state=progress.run_state)
