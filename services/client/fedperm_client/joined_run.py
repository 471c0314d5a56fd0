"""A run that this client takes part in, with everything that a task needs."""

import asyncio
import logging
import math
from dataclasses import dataclass, field

from fedperm.clock import Clock
from fedperm.errors import RefusedError, UntrustedError
from fedperm.ids import ClientName
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.submissions import SubmissionKind
from fedperm.wire.aggregator import Phase, SubmissionReceipt, Task, TestMetrics
from fedperm.wire.digest import sha256_of
from fedperm_client.activity import Activity, Measurements
from fedperm_client.keyring import Keyring
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.outbox import Outbox, PreparedSubmission
from fedperm_client.preparation import Preparation
from fedperm_client.run_ledger import RunLedger
from fedperm_client.session import Session
from fedperm_client.state_directory import StateDirectory
from fedperm_client.summary import History, RoundRecord
from fedperm_client.training.learner import Learner

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class JoinedRun:
    """`ledger` is None if the owner accepts that nothing is counted, `privacy` without noise.

    What changes from task to task is last. `checkpoint` is the model after the last settled round;
    it is on disk before it is here. `measured` is of the round under way, `unreported` the round
    whose report the aggregator has not got yet.
    """

    session: Session
    frozen: FrozenDocument
    state: StateDirectory
    keyring: Keyring
    learner: Learner
    preparation: Preparation
    ledger: RunLedger | None
    privacy: PrivacyReport | None
    store: ModelStore
    outbox: Outbox
    history: History
    clock: Clock
    poll_seconds: float
    min_contributors: int
    reports_training_loss: bool

    checkpoint: Checkpoint
    activity: Activity = field(default_factory=Activity)
    measured: Measurements = field(default_factory=Measurements)
    unreported: RoundRecord | None = None
    is_finished: bool = False

    @property
    def document(self) -> RunDocument:
        return self.frozen.content

    @property
    def client(self) -> ClientName:
        return self.session.identity.name

    def check_is_next(self, task: Task) -> None:
        """For tasks that move the model on: rounds follow each other."""
        settled, count = self.checkpoint.settled, self.document.rounds.count
        if not task.round == settled + 1 <= count:
            raise UntrustedError(
                f"the aggregator asks for round {task.round} after round {settled} of {count}",
                "rounds follow each other; ask the run's operator",
            )

    async def submit(
        self, kind: SubmissionKind, prepared: PreparedSubmission
    ) -> SubmissionReceipt | None:
        """Sends it, and keeps in the outbox that the aggregator has it. None if it came too late:
        the round goes on without it."""
        body, number = await asyncio.to_thread(prepared.read), prepared.round
        try:
            with self.activity.during(Phase.UPLOADING, number), self.measured.timing("upload"):
                receipt = await self.session.submit(kind, self.frozen, number, prepared.epoch, body)
        except RefusedError as refusal:
            if refusal.status != 410:
                raise
            log.warning("round %d: too late, it goes on without this %s", number, kind.name)
            return None
        if receipt.sha256 != sha256_of(body):
            raise UntrustedError(
                f"the receipt of round {number} is for another {kind.name}",
                "ask the run's operator",
            )
        self.measured.bytes_up += len(body)
        await asyncio.to_thread(self.outbox.acknowledge, prepared)
        log.info("round %d: sent the %s, %s octets", number, kind.name, f"{len(body):,}")
        return receipt

    def test_metrics(self) -> TestMetrics | None:
        """On the task's public data; None if it has none, or if the model has diverged."""
        evaluation = self.learner.test(self.checkpoint.parameters)
        if evaluation is None or not math.isfinite(evaluation.loss):
            return None
        return TestMetrics(accuracy=evaluation.accuracy, loss=evaluation.loss)
