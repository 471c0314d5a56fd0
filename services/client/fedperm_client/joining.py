"""The second stage of a client: it reads and checks the run, and joins it."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

from fedperm.contributors import contributors_warning
from fedperm.errors import UntrustedError
from fedperm.ids import NO_EPOCH, NO_ROUND
from fedperm.lineage import Lineage
from fedperm.privacy.release import event_of, noise_of, promise_of
from fedperm.privacy.report import PrivacyReport
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import decode_model, model_body
from fedperm_client.environment import Environment
from fedperm_client.joined_run import JoinedRun
from fedperm_client.keyring import Keyring, NewestEpoch
from fedperm_client.model_store import Checkpoint, ModelStore, constants_of
from fedperm_client.outbox import Outbox
from fedperm_client.preparation import Preparation
from fedperm_client.reports import IN_CLEAR, Reporting, Reports
from fedperm_client.run_ledger import RunLedger
from fedperm_client.session import Session
from fedperm_client.summary import History
from fedperm_client.taking_part import Stage, TakingPart
from fedperm_client.tasks.loading import task_of_run
from fedperm_client.tasks.shards import context_of
from fedperm_client.training.learner import Learner

log = logging.getLogger(__name__)

UNCOUNTED_LOSS = (
    "this client reports the loss on its own records after every round: an unnoised release"
)


class Joining:
    """All is checked before it joins; a step that fails is taken again as a whole."""

    def __init__(self, environment: Environment, session: Session) -> None:
        self._environment = environment
        self._session = session

    async def step(self) -> Stage:
        """The document and what the owner thinks of it, then keys and model, then data."""
        environment, session = self._environment, self._session
        await environment.peers.check_aggregator()
        frozen = await session.document()
        document = frozen.content
        if document.run != session.run:
            raise UntrustedError(
                f"asked for the run {session.run}, got the document of {document.run}",
                "check the aggregator's address",
            )
        environment.settings.pins.check(frozen)
        privacy = await asyncio.to_thread(environment.settings.ceilings.check, document)
        newest = NewestEpoch(environment.state.newest_epoch)
        keyring = Keyring(session, document, newest, environment.randomness)
        store = ModelStore(
            environment.state.run(document.run).checkpoint, constants_of(document.model)
        )
        checkpoint = await self._checkpoint(frozen, store)
        run = await asyncio.to_thread(self._assemble, frozen, privacy, keyring, store, checkpoint)
        run.outbox.clear(checkpoint.settled)
        await keyring.warm_up()
        if checkpoint.settled == NO_ROUND:
            await keyring.check_can_begin()
        await session.join(frozen.sha256)
        _log(run)
        return TakingPart(run)

    async def _checkpoint(self, frozen: FrozenDocument, store: ModelStore) -> Checkpoint:
        """Where this client was, or the initial model that all clients start from."""
        model = frozen.content.model
        kept = await asyncio.to_thread(store.load, frozen.sha256, model.parameters)
        if kept is not None:
            return kept
        body = await self._session.initial_model(model_body(model.parameters).size)
        if sha256_of(body) != model.initial_sha256:
            raise UntrustedError(
                "the initial model is not the one that the run's document names",
                "the operator must put the document's initial model beside the run",
            )
        fresh = Checkpoint(
            decode_model(body, model.parameters),
            NO_ROUND,
            NO_EPOCH,
            frozen.sha256,
            Lineage.of_document(frozen.sha256),
        )
        await asyncio.to_thread(store.save, fresh)
        return fresh

    def _assemble(
        self,
        frozen: FrozenDocument,
        privacy: PrivacyReport | None,
        keyring: Keyring,
        store: ModelStore,
        checkpoint: Checkpoint,
    ) -> JoinedRun:
        """Loads data and tries the model out: keep off the event loop."""
        environment, settings, document = (
            self._environment,
            self._environment.settings,
            frozen.content,
        )
        directory, noise = environment.state.run(document.run), noise_of(document)
        ledger = None
        if environment.ledger is not None and noise is not None:
            ledger = RunLedger(environment.ledger, document.run, event_of(document), noise)
        reports_loss = document.local_metrics and settings.allow_local_metrics
        if privacy is not None:
            notes = _notes(reports_loss=reports_loss, reporting=settings.reports)
            privacy = replace(privacy, notes=(*privacy.notes, *notes))
        return JoinedRun(
            session=self._session,
            frozen=frozen,
            state=environment.state,
            keyring=keyring,
            learner=self._learner(document),
            preparation=Preparation.of(document, noise, environment.randomness),
            ledger=ledger,
            privacy=privacy,
            store=store,
            outbox=Outbox(directory.outbox),
            history=History(directory.history),
            clock=environment.clock,
            poll_seconds=environment.poll_seconds,
            min_contributors=settings.min_contributors,
            reports_training_loss=reports_loss,
            reports=Reports(frozen, self._session.identity.name, settings.reports),
            checkpoint=checkpoint,
        )

    def _learner(self, document: RunDocument) -> Learner:
        settings, ordinal = self._environment.settings, self._session.identity.enrolled.ordinal
        context = context_of(document, settings.data_directory, settings.shard, ordinal)
        task = task_of_run(document.task.name, settings.task, context)
        return Learner(task, document, promise_of(document))


def _notes(*, reports_loss: bool, reporting: Reporting) -> Iterator[str]:
    if reports_loss:
        yield UNCOUNTED_LOSS
    if reporting is Reporting.CLEAR:
        yield IN_CLEAR


def _log(run: JoinedRun) -> None:
    document = run.document
    log.info(
        "joined run %s after round %d of %d: %s parameters, %d records here",
        *(document.run, run.checkpoint.settled, document.rounds.count),
        *(f"{document.model.parameters:,}", run.learner.records),
    )
    warning = contributors_warning(document.rounds.min_contributors)
    if warning is not None:
        log.warning("%s", warning)
    if run.reports.reporting is Reporting.CLEAR:
        log.warning("%s", IN_CLEAR)
    if run.privacy is not None:
        log.info("the whole run costs epsilon %.4g at most", run.privacy.rows.paper_unit.epsilon)
