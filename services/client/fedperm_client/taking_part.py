"""Round after round: the stage in which a client spends its life."""

import asyncio
import logging
import math
from typing import Protocol

from fedperm.errors import RefusedError, UntrustedError
from fedperm.wire.aggregator import ClientReport, RoundState, Task, TaskKind, TestMetrics
from fedperm_client.apply_round import SettledRound, Settler
from fedperm_client.history import RoundRecord
from fedperm_client.joined_run import JoinedRun
from fedperm_client.measurements import Measurements
from fedperm_client.model_store import Checkpoint, export_model
from fedperm_client.state_directory import StateDirectory
from fedperm_client.submit_update import Contributor
from fedperm_client.summary import summarise
from fedperm_client.training.evaluation import Evaluation

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.2
"""Between two questions, should the aggregator answer "wait" at once."""


class Stage(Protocol):
    """A client is a state machine: a stage does one thing and says what comes next."""

    async def step(self) -> "Stage":
        """The stage after one step, possibly the same; a step that failed may be taken again."""


class TakingPart:
    def __init__(
        self,
        run: JoinedRun,
        state: StateDirectory,
        contributor: Contributor,
        checkpoint: Checkpoint,
        poll_seconds: float,
    ) -> None:
        self.run = run
        self.checkpoint = checkpoint
        self._state = state
        self._contributor = contributor
        self._settler = Settler(run)
        self._poll_seconds = poll_seconds
        self._measured = Measurements()
        self._unsent: RoundRecord | None = None

    async def step(self) -> Stage:
        """One report or one task."""
        if self._unsent is not None:
            await self._report(self._unsent)
            return self
        task = await self._next_task()
        match task.kind:
            case TaskKind.TRAIN:
                await self._contributor.contribute(task, self.checkpoint.parameters, self._measured)
            case TaskKind.SETTLE:
                await self._settle()
            case TaskKind.WAIT:
                await asyncio.sleep(min(_PAUSE_SECONDS, self._poll_seconds))
            case TaskKind.FINISH:
                await asyncio.to_thread(self._finish, task)
                return Finished()
        return self

    async def beat(self) -> None:
        await self.run.session.beat(self.run.activity.heartbeat)

    async def _next_task(self) -> Task:
        settled = self.checkpoint.settled
        with self._contributor.filling_the_pool():
            task = await self.run.session.next_task(settled, self._poll_seconds)
        concerns_a_round = task.kind in {TaskKind.TRAIN, TaskKind.SETTLE}
        if concerns_a_round and not task.round == settled + 1 <= self.run.document.rounds.count:
            raise UntrustedError(
                f"the aggregator asks for round {task.round} after round {settled} of "
                f"{self.run.document.rounds.count}",
                "rounds follow each other; ask the run's operator",
            )
        return task

    async def _settle(self) -> None:
        settled = await self._settler.settle(self.checkpoint, self._measured)
        self.checkpoint = settled.checkpoint
        record = await asyncio.to_thread(self._record, settled)
        self._measured = Measurements()
        self._unsent = record
        _tell(record)

    def _record(self, settled: SettledRound) -> RoundRecord:
        outcome, checkpoint = settled.outcome, settled.checkpoint
        record = RoundRecord(
            round=outcome.round,
            state=outcome.state,
            epoch=outcome.epoch,
            contributors=len(outcome.included),
            included=self.run.client in outcome.included,
            report=self._client_report(),
            parameters_sha256=checkpoint.sha256,
        )
        self.run.history.add(record)
        return record

    def _client_report(self) -> ClientReport:
        parameters, measured = self.checkpoint.parameters, self._measured
        loss = None
        if self.run.reports_training_loss:
            loss = self.run.learner.training_loss(parameters)
        return ClientReport(
            seconds=measured.seconds,
            bytes_up=measured.bytes_up,
            bytes_down=measured.bytes_down,
            test=_metrics(self.run.learner.test(parameters)),
            train_loss=loss if loss is not None and math.isfinite(loss) else None,
            ledger=None if self.run.ledger is None else self.run.ledger.report(),
        )

    async def _report(self, record: RoundRecord) -> None:
        """The model does not depend on it: a report that is not wanted is given up."""
        try:
            await self.run.session.report(record.round, record.report)
        except RefusedError as refusal:
            if refusal.status == 429 or refusal.status >= 500:
                raise
            log.warning("round %d: the report was refused: %s", record.round, refusal)
        self._unsent = None

    def _finish(self, task: Task) -> None:
        parameters = self.checkpoint.parameters
        export_model(self.run.directory.model, parameters, self.run.document.model)
        test = _metrics(self.run.learner.test(parameters))
        summarise(self.run, self.checkpoint, task.run_state, test).write(self._state.summary)
        log.info("the run is %s; summary in %s", task.run_state.value, self._state.summary)


class Finished:
    async def step(self) -> Stage:
        return self


def _metrics(evaluation: Evaluation | None) -> TestMetrics | None:
    """None also for a model that has diverged."""
    if evaluation is None or not math.isfinite(evaluation.loss):
        return None
    return TestMetrics(accuracy=evaluation.accuracy, loss=evaluation.loss)


def _tell(record: RoundRecord) -> None:
    if record.state is RoundState.ABORTED:
        log.warning("round %d: aborted, nothing to apply", record.round)
        return
    test = record.report.test
    accuracy = "" if test is None or test.accuracy is None else f", accuracy {test.accuracy:.4f}"
    log.info(
        "round %d: applied the average of %d clients%s",
        *(record.round, record.contributors, accuracy),
    )
