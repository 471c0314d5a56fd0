"""What a client is told to do."""

from dataclasses import replace

import pytest

from fedperm.errors import ConflictError
from fedperm.wire.aggregator import RunState, Task, TaskKind
from fedperm_aggregator.records import Progress
from fedperm_aggregator.rounds.tasks import next_task

RUNNING, COMPLETED, STOPPED = RunState.RUNNING, RunState.COMPLETED, RunState.STOPPED


def open_round(state: RunState, *, asked: set[str], sent: set[str]) -> Progress:
    return Progress(
        state,
        settled=3,
        number=4,
        phase="collect",
        task="train",
        epoch=2,
        deadline_at=99.0,
        asked=frozenset(asked),
        sent=frozenset(sent),
    )


ASKED = open_round(RUNNING, asked={"ada", "ben"}, sent={"ben"})
SENT = open_round(RUNNING, asked={"ada", "ben"}, sent={"ada"})
NOT_ASKED = open_round(RUNNING, asked={"ben"}, sent=set())


@pytest.mark.parametrize(
    ("view", "settled", "kind", "number"),
    [
        (Progress(RunState.WAITING, 0), 0, TaskKind.WAIT, 0),
        (ASKED, 0, TaskKind.SETTLE, 1),
        (ASKED, 2, TaskKind.SETTLE, 3),
        (ASKED, 3, TaskKind.TRAIN, 4),
        (SENT, 3, TaskKind.WAIT, 0),
        (NOT_ASKED, 3, TaskKind.WAIT, 0),
        (Progress(RUNNING, 3), 3, TaskKind.WAIT, 0),
        (replace(ASKED, run_state=STOPPED), 3, TaskKind.TRAIN, 4),
        (Progress(STOPPED, 3), 3, TaskKind.WAIT, 0),
        (Progress(COMPLETED, 3), 2, TaskKind.SETTLE, 3),
        (Progress(COMPLETED, 3), 3, TaskKind.FINISH, 0),
        (Progress(RunState.FAILED, 3), 3, TaskKind.FINISH, 0),
    ],
)
def test_the_next_task(view, settled, kind, number):
    task = next_task(view, "ada", settled)
    assert (task.kind, task.round, task.run_state) == (kind, number, view.run_state)


def test_a_task_to_train_says_under_which_key_and_until_when():
    assert next_task(ASKED, "ada", 3) == Task(
        kind=TaskKind.TRAIN, round=4, epoch=2, deadline_at=99.0, run_state=RUNNING
    )


def test_a_client_that_is_ahead_of_the_aggregator_is_not_sent_on():
    with pytest.raises(ConflictError, match="round 4 is not settled here"):
        next_task(ASKED, "ada", 4)
