"""A run that this client takes part in, with everything that a round needs."""

from dataclasses import dataclass, replace

from fedperm.noise.law import NoiseSampler
from fedperm.privacy.release import event_of, noise_of, promise_of
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm_client.activity import Activity
from fedperm_client.environment import Environment
from fedperm_client.history import History
from fedperm_client.keyring import Keyring
from fedperm_client.model_store import ModelStore, constants_of
from fedperm_client.outbox import Outbox
from fedperm_client.preparation import Preparation
from fedperm_client.run_ledger import RunLedger
from fedperm_client.session import Session
from fedperm_client.state_directory import RunDirectory
from fedperm_client.tasks.loading import task_of_run
from fedperm_client.tasks.shards import context_of
from fedperm_client.training.learner import Learner

UNCOUNTED_LOSS = (
    "this client reports the loss on its own records after every round: an unnoised release"
)


@dataclass(frozen=True)
class JoinedRun:
    """`ledger` is None if the owner accepts that nothing is counted, `privacy` without noise."""

    session: Session
    frozen: FrozenDocument
    directory: RunDirectory
    keyring: Keyring
    learner: Learner
    preparation: Preparation
    ledger: RunLedger | None
    privacy: PrivacyReport | None
    store: ModelStore
    outbox: Outbox
    history: History
    activity: Activity
    min_contributors: int
    reports_training_loss: bool

    @property
    def document(self) -> RunDocument:
        return self.frozen.content

    @property
    def client(self) -> str:
        return self.session.identity.name


def assemble(
    environment: Environment,
    session: Session,
    frozen: FrozenDocument,
    keyring: Keyring,
    privacy: PrivacyReport | None,
) -> JoinedRun:
    """Loads data and tries the model out: keep off the event loop."""
    document, settings = frozen.content, environment.settings
    directory = environment.state.run(document.run)
    reports_loss = document.local_metrics and settings.allow_local_metrics
    noise = noise_of(document)
    return JoinedRun(
        session=session,
        frozen=frozen,
        directory=directory,
        keyring=keyring,
        learner=_learner(environment, session, document),
        preparation=Preparation.of(document, noise, environment.randomness),
        ledger=_ledger(environment, document, noise),
        privacy=_with_note(privacy) if reports_loss else privacy,
        store=ModelStore(directory.checkpoint, constants_of(document.model)),
        outbox=Outbox(directory.outbox),
        history=History(directory.history),
        activity=Activity(),
        min_contributors=settings.min_contributors,
        reports_training_loss=reports_loss,
    )


def _learner(environment: Environment, session: Session, document: RunDocument) -> Learner:
    settings, ordinal = environment.settings, session.identity.enrolled.ordinal
    context = context_of(document, settings.data_directory, settings.shard, ordinal)
    task = task_of_run(document.task.name, settings.task, context)
    return Learner(task, document, promise_of(document))


def _ledger(
    environment: Environment, document: RunDocument, noise: NoiseSampler | None
) -> RunLedger | None:
    if environment.ledger is None or noise is None:
        return None
    return RunLedger(environment.ledger, document.run, event_of(document), noise)


def _with_note(privacy: PrivacyReport | None) -> PrivacyReport | None:
    if privacy is None:
        return None
    return replace(privacy, notes=(*privacy.notes, UNCOUNTED_LOSS))
