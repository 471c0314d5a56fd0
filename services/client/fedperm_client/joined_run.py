"""A run that this client takes part in, with everything that a task needs."""

import math
from dataclasses import dataclass, field

from fedperm.clock import Clock
from fedperm.errors import UntrustedError
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.aggregator import Task, TestMetrics
from fedperm_client.activity import Activity, Measurements
from fedperm_client.keyring import Keyring
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.outbox import Outbox
from fedperm_client.preparation import Preparation
from fedperm_client.run_ledger import RunLedger
from fedperm_client.session import Session
from fedperm_client.state_directory import StateDirectory
from fedperm_client.summary import History, RoundRecord
from fedperm_client.training.learner import Learner


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
    def client(self) -> str:
        return self.session.identity.name

    def check_is_next(self, task: Task) -> None:
        """For tasks that move the model on: rounds follow each other."""
        settled, count = self.checkpoint.settled, self.document.rounds.count
        if not task.round == settled + 1 <= count:
            raise UntrustedError(
                f"the aggregator asks for round {task.round} after round {settled} of {count}",
                "rounds follow each other; ask the run's operator",
            )

    def test_metrics(self) -> TestMetrics | None:
        """On the task's public data; None if it has none, or if the model has diverged."""
        evaluation = self.learner.test(self.checkpoint.parameters)
        if evaluation is None or not math.isfinite(evaluation.loss):
            return None
        return TestMetrics(accuracy=evaluation.accuracy, loss=evaluation.loss)
