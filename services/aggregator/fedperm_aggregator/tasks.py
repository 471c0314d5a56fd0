"""What a client is to do next: a pure function of what is stored and what it has done."""

from dataclasses import dataclass

from fedperm.errors import ConflictError
from fedperm.wire.aggregator import RunState, Task, TaskKind


@dataclass(frozen=True)
class OpenRound:
    """The open round as one client sees it."""

    number: int
    epoch: int
    deadline_at: float
    is_asked: bool
    has_sent: bool


@dataclass(frozen=True)
class TaskView:
    """`settled` rounds are 1 to that number: a round opens only when the one before is settled."""

    run_state: RunState
    settled: int
    open: OpenRound | None


@dataclass(frozen=True)
class Progress:
    """Where a run is, for all of its clients at once: who is asked in the open round, and who has
    sent. One look at it answers everybody who waits."""

    run_state: RunState
    settled: int
    number: int = 0
    """Of the open round; 0 without one."""
    epoch: int = 0
    deadline_at: float = 0.0
    asked: frozenset[str] = frozenset()
    sent: frozenset[str] = frozenset()

    def seen_by(self, client: str) -> TaskView:
        return TaskView(self.run_state, self.settled, self._open(client) if self.number else None)

    def _open(self, client: str) -> OpenRound:
        return OpenRound(
            self.number, self.epoch, self.deadline_at, client in self.asked, client in self.sent
        )


def next_task(view: TaskView, settled: int) -> Task:
    """`settled` is the last round that the client has dealt with."""
    if settled > view.settled:
        raise ConflictError(
            f"round {settled} is not settled here, only {view.settled} rounds are",
            "this is not the aggregator that you had, or it lost its database: ask its operator",
        )
    if settled < view.settled:
        return Task(kind=TaskKind.SETTLE, round=settled + 1, run_state=view.run_state)
    if view.open is not None and view.open.is_asked and not view.open.has_sent:
        return _train(view.open, view.run_state)
    over = view.run_state.is_over
    return Task(kind=TaskKind.FINISH if over else TaskKind.WAIT, run_state=view.run_state)


def _train(asked: OpenRound, run_state: RunState) -> Task:
    return Task(
        kind=TaskKind.TRAIN,
        round=asked.number,
        epoch=asked.epoch,
        deadline_at=asked.deadline_at,
        run_state=run_state,
    )
