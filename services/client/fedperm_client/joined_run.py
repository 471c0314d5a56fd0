"""A run that this client takes part in, with everything that a task needs."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fedperm.clock import Clock
from fedperm.errors import RefusedError, UntrustedError
from fedperm.ids import ClientName, EpochNumber, RoundNumber
from fedperm.lineage import Lineage
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.submissions import SubmissionKind
from fedperm.wire.aggregator import Phase, SubmissionReceipt, Task, TestMetrics
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters
from fedperm_client.activity import Activity, Measurements
from fedperm_client.ending import Ending
from fedperm_client.keyring import Keyring
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.outbox import Outbox, PreparedSubmission
from fedperm_client.preparation import Preparation
from fedperm_client.reports import Reports
from fedperm_client.run_ledger import RunLedger
from fedperm_client.session import Session
from fedperm_client.state_directory import StateDirectory
from fedperm_client.summary import History, RoundRecord
from fedperm_client.training.learner import Learner

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")
Result = TypeVar("Result")


@dataclass(kw_only=True)
class JoinedRun:
    """`ledger` is None if the owner accepts that nothing is counted, `privacy` without noise.

    What changes from task to task is last. `checkpoint` is the model after the last settled round;
    it is on disk before it is here. `measured` is of the round under way, `unreported` the round
    whose report the aggregator has not got yet, `declined` the one for which nothing is sent since
    its key is outdated, `withheld` the one whose key this client does not get. It `contributed` to
    the last published round, or has started since and does not know; `vouched` is what it has
    signed last.
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
    reports: Reports

    checkpoint: Checkpoint
    activity: Activity = field(default_factory=Activity)
    measured: Measurements = field(default_factory=Measurements)
    unreported: RoundRecord | None = None
    ending: Ending | None = None
    declined: RoundNumber | None = None
    withheld: RoundNumber | None = None
    contributed: bool = True
    vouched: tuple[Lineage, EpochNumber] | None = None
    certificate: str | None = None

    @property
    def document(self) -> RunDocument:
        return self.frozen.content

    @property
    def client(self) -> ClientName:
        return self.session.identity.name

    @property
    def owed(self) -> tuple[Lineage, EpochNumber] | None:
        """The model for which this client is to vouch, and the epoch to seal it under: after each
        round to which it contributed, and anew when the key has another epoch."""
        lineage, epoch = self.checkpoint.lineage, self.keyring.newest_heard
        if not self.contributed or lineage is None or not lineage.round or not epoch:
            return None
        return None if self.vouched == (lineage, epoch) else (lineage, epoch)

    async def certified(self) -> str:
        """The certificate of this client's signing key."""
        if self.certificate is None:
            self.certificate = await self.session.certificate()
        return self.certificate

    async def may_have_sent(self, number: RoundNumber) -> bool:
        """In a replay the upload is gone, but its charge is not; without a ledger nobody knows."""
        return self.ledger is None or await asyncio.to_thread(self.ledger.has_charged, number)

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

    async def tell(self, what: str, request: Awaitable[Answer]) -> Answer | None:
        """What this client's model does not depend on: given up if the aggregator does not want
        it."""
        try:
            return await request
        except RefusedError as refusal:
            if refusal.status == 429 or refusal.status >= 500:
                raise
            log.warning("%s was refused: %s", what, refusal)
            return None

    def test_metrics(self) -> TestMetrics | None:
        """On the task's public data; None if it has none, or if the model has diverged."""
        evaluation = _tried(self.learner.test, self.checkpoint.parameters)
        if evaluation is None or not math.isfinite(evaluation.loss):
            return None
        return TestMetrics(accuracy=evaluation.accuracy, loss=evaluation.loss)

    def training_loss(self) -> float | None:
        """On this client's own records, if run and owner want it."""
        if not self.reports_training_loss:
            return None
        loss = _tried(self.learner.training_loss, self.checkpoint.parameters)
        return loss if loss is not None and math.isfinite(loss) else None


def _tried(measure: Callable[[Parameters], Result], parameters: Parameters) -> Result | None:
    """None if the task's own code fails on this model. The aggregator may have chosen the model:
    whether it can be tested is for the sealed report, and must not stop the client."""
    try:
        return measure(parameters)
    except Exception:
        log.exception("the model cannot be tested")
        return None
