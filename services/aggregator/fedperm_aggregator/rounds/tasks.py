"""What a client is to do next: a pure function of what is stored and what it has done."""

from fedperm.errors import ConflictError
from fedperm.ids import ClientName, RoundNumber
from fedperm.wire.aggregator import Task, TaskKind
from fedperm_aggregator.records import Progress


def next_task(progress: Progress, client: ClientName, settled: RoundNumber) -> Task:
    """`settled` is the last round that the client has dealt with. What was published is settled
    first: a phase that follows publication asks for what came of that."""
    if settled > progress.settled:
        raise ConflictError(
            f"round {settled} is not settled here, only {progress.settled} rounds are",
            "this is not the aggregator that you had, or it lost its database: ask its operator",
        )
    if settled < progress.settled:
        following = RoundNumber(settled + 1)
        return Task(kind=TaskKind.SETTLE, round=following, run_state=progress.run_state)
    if client in progress.asked and client not in progress.sent:
        return Task(
            kind=progress.task,
            round=progress.number,
            epoch=progress.epoch,
            deadline_at=progress.deadline_at,
            run_state=progress.run_state,
        )
    over = progress.run_state.is_over
    return Task(kind=TaskKind.FINISH if over else TaskKind.WAIT, run_state=progress.run_state)
