"""What a client is told to do."""

import pytest

from fedperm.errors import ConflictError
from fedperm.wire.aggregator import RunState, Task, TaskKind
from fedperm_aggregator.tasks import OpenRound, TaskView, next_task

ASKED = OpenRound(number=4, epoch=2, deadline_at=99.0, is_asked=True, has_sent=False)
SENT = OpenRound(number=4, epoch=2, deadline_at=99.0, is_asked=True, has_sent=True)
NOT_ASKED = OpenRound(number=4, epoch=2, deadline_at=99.0, is_asked=False, has_sent=False)
RUNNING, COMPLETED, STOPPED = RunState.RUNNING, RunState.COMPLETED, RunState.STOPPED


@pytest.mark.parametrize(
    ("view", "settled", "kind", "number"),
    [
        (TaskView(RunState.WAITING, 0, None), 0, TaskKind.WAIT, 0),
        (TaskView(RUNNING, 3, ASKED), 0, TaskKind.SETTLE, 1),
        (TaskView(RUNNING, 3, ASKED), 2, TaskKind.SETTLE, 3),
        (TaskView(RUNNING, 3, ASKED), 3, TaskKind.TRAIN, 4),
        (TaskView(RUNNING, 3, SENT), 3, TaskKind.WAIT, 0),
        (TaskView(RUNNING, 3, NOT_ASKED), 3, TaskKind.WAIT, 0),
        (TaskView(RUNNING, 3, None), 3, TaskKind.WAIT, 0),
        (TaskView(STOPPED, 3, ASKED), 3, TaskKind.TRAIN, 4),
        (TaskView(STOPPED, 3, None), 3, TaskKind.WAIT, 0),
        (TaskView(COMPLETED, 3, None), 2, TaskKind.SETTLE, 3),
        (TaskView(COMPLETED, 3, None), 3, TaskKind.FINISH, 0),
        (TaskView(RunState.FAILED, 3, None), 3, TaskKind.FINISH, 0),
    ],
)
def test_the_next_task(view, settled, kind, number):
    task = next_task(view, settled)
    assert (task.kind, task.round, task.run_state) == (kind, number, view.run_state)


def test_a_task_to_train_says_under_which_key_and_until_when():
    assert next_task(TaskView(RUNNING, 3, ASKED), 3) == Task(
        kind=TaskKind.TRAIN, round=4, epoch=2, deadline_at=99.0, run_state=RUNNING
    )


def test_a_client_that_is_ahead_of_the_aggregator_is_not_sent_on():
    with pytest.raises(ConflictError, match="round 4 is not settled here"):
        next_task(TaskView(RUNNING, 3, ASKED), 4)
