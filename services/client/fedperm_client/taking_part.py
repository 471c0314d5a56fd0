"""The third stage of a client, in which it spends its life: one task after another.

What a task asks for is done by the handler that is registered under the task's word. A further
phase of a round needs a handler here, and nothing else of this module.
"""

import asyncio
import json
import logging
from typing import Protocol

from fedperm.privacy.rendering import as_json
from fedperm.registry import Registry
from fedperm.wire.aggregator import Task
from fedperm_client.apply_round import apply_round
from fedperm_client.ending import Ending, ending_of
from fedperm_client.errors import VersionError
from fedperm_client.joined_run import JoinedRun
from fedperm_client.model_store import export_model
from fedperm_client.submit_update import submit_update
from fedperm_client.summary import RoundRecord, Summary, total_seconds
from fedperm_client.vouch import vouch

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.2
"""Between two questions, should the aggregator answer "wait" at once."""


class Stage(Protocol):
    """A client is a state machine: a stage does one thing and says what comes next."""

    async def step(self) -> "Stage":
        """The stage after one step, possibly the same; a step that failed may be taken again."""


class TaskHandler(Protocol):
    async def __call__(self, run: JoinedRun, task: Task, /) -> None:
        """Does what the task asks for. The task may come again after an error, a lost answer or a
        crash at any moment: what has left this client leaves it unchanged then (`run.outbox`), and
        what changes here changes once."""


async def wait(run: JoinedRun, _task: Task) -> None:
    await asyncio.sleep(min(_PAUSE_SECONDS, run.poll_seconds))


async def finish(run: JoinedRun, task: Task) -> None:
    """The run is over: leaves the model and a summary."""
    settled, count = run.checkpoint.settled, run.document.rounds.count
    ending = ending_of(task.run_state, settled, count)
    if ending is Ending.ENDED_EARLY:
        log.warning(
            "the aggregator calls the run %s after round %d of %d: it ended early",
            *(task.run_state.value, settled, count),
        )
    await asyncio.to_thread(_leave_results, run, ending)
    run.ending = ending


TASK_HANDLERS: Registry[TaskHandler] = Registry(
    "task", {"train": submit_update, "settle": apply_round, "wait": wait, "finish": finish}
)
"""By the word of a task (`Task.kind`)."""


class TakingPart:
    def __init__(self, run: JoinedRun) -> None:
        self.run = run

    async def step(self) -> Stage:
        """One report, one checkpoint or one task."""
        run = self.run
        if run.unreported is not None:
            await self._report(run.unreported)
            return self
        if (owed := run.owed) is not None:
            await run.tell(f"round {owed[0].round}: the sealed checkpoint", vouch(run))
            run.vouched = owed
            return self
        with run.keyring.filling_the_pool():
            task = await run.session.next_task(run.checkpoint.settled, run.poll_seconds)
        if str(task.kind) not in TASK_HANDLERS.names:
            raise VersionError(
                f"the aggregator asks for the task {str(task.kind)!r}, which this client does not "
                "know",
                "upgrade this client and start it again: it goes on where it was",
            )
        await TASK_HANDLERS[str(task.kind)](run, task)
        return self if run.ending is None else Finished(run.ending)

    async def beat(self) -> None:
        await self.run.session.beat(self.run.activity.heartbeat)

    async def _report(self, record: RoundRecord) -> None:
        sending = self.run.session.report(record.round, self.run.reports.as_sent(record))
        await self.run.tell(f"round {record.round}: the report", sending)
        self.run.unreported = None


class Finished:
    def __init__(self, ending: Ending) -> None:
        self.ending = ending

    async def step(self) -> Stage:
        return self


def _leave_results(run: JoinedRun, ending: Ending) -> None:
    checkpoint, history = run.checkpoint, run.history.read()
    model = run.state.run(run.document.run).model
    export_model(model, checkpoint.parameters, run.document.model)
    summary = Summary(
        run=run.document.run,
        document=run.frozen.sha256,
        client=run.client,
        state=ending,
        rounds=checkpoint.settled,
        rounds_included=sum(record.included for record in history),
        test=run.test_metrics(),
        reports=run.reports.reporting,
        seconds=total_seconds(history),
        bytes_up=sum(record.report.bytes_up for record in history),
        bytes_down=sum(record.report.bytes_down for record in history),
        privacy=None if run.privacy is None else json.loads(as_json(run.privacy)),
        epsilon_spent=None if run.ledger is None else run.ledger.ledger.spent(),
        parameters=checkpoint.parameters.size,
        parameters_sha256=checkpoint.sha256,
        model=str(model.resolve()),
        history=history,
    )
    summary.write(run.state.summary)
    log.info("the run is over: %s; summary in %s", ending.value, run.state.summary)
