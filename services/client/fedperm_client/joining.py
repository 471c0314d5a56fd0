"""The second stage of a client: it reads and checks the run, and joins it."""

import asyncio
import logging

from fedperm.errors import UntrustedError
from fedperm.run_document import FrozenDocument
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters, decode_model, model_body
from fedperm_client.environment import Environment
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.joined_run import JoinedRun, assemble
from fedperm_client.keyring import Keyring, NewestEpoch
from fedperm_client.model_store import Checkpoint, ModelStore, constants_of
from fedperm_client.session import Session
from fedperm_client.submit_update import Contributor
from fedperm_client.taking_part import Stage, TakingPart

log = logging.getLogger(__name__)


class Joining:
    """All is checked before it joins; a step that fails is taken again as a whole."""

    def __init__(self, environment: Environment, session: Session) -> None:
        self._environment = environment
        self._session = session

    async def step(self) -> Stage:
        environment = self._environment
        frozen = await self._document()
        ceilings = environment.settings.ceilings
        privacy = await asyncio.to_thread(ceilings.check, frozen.content)
        newest = NewestEpoch(environment.state.newest_epoch)
        keyring = Keyring(self._session, frozen.content, newest, environment.randomness)
        checkpoint = await self._checkpoint(frozen)
        run = await asyncio.to_thread(
            assemble, environment, self._session, frozen, keyring, privacy
        )
        run.outbox.clear(checkpoint.settled)
        key = await self._latest_key(keyring)
        await self._session.join(frozen.sha256)
        _tell(run, checkpoint)
        contributor = Contributor(run, key)
        return TakingPart(run, environment.state, contributor, checkpoint, environment.poll_seconds)

    async def _document(self) -> FrozenDocument:
        frozen = await self._session.document()
        if frozen.content.run != self._session.run:
            raise UntrustedError(
                f"asked for the run {self._session.run}, got the document of {frozen.content.run}",
                "check the aggregator's address",
            )
        return frozen

    async def _latest_key(self, keyring: Keyring) -> EpochKey | None:
        """Opened before the first round needs it, with its tables."""
        epoch = await keyring.latest()
        if epoch is None:
            return None
        key = await keyring.for_decryption(epoch)
        await asyncio.to_thread(lambda: key.encoder)
        return key

    async def _checkpoint(self, frozen: FrozenDocument) -> Checkpoint:
        """Where this client was, or the initial model that all clients start from."""
        document = frozen.content
        path = self._environment.state.run(document.run).checkpoint
        store = ModelStore(path, constants_of(document.model))
        kept = await asyncio.to_thread(store.load, frozen.sha256, document.model.parameters)
        if kept is not None:
            return kept
        fresh = Checkpoint(await self._initial_parameters(frozen), 0, 0, frozen.sha256)
        await asyncio.to_thread(store.save, fresh)
        return fresh

    async def _initial_parameters(self, frozen: FrozenDocument) -> Parameters:
        model = frozen.content.model
        body = await self._session.initial_model(model_body(model.parameters).size)
        if sha256_of(body) != model.initial_sha256:
            raise UntrustedError(
                "the initial model is not the one that the run's document names",
                "the operator must put the document's initial model beside the run",
            )
        return decode_model(body, model.parameters)


def _tell(run: JoinedRun, checkpoint: Checkpoint) -> None:
    document = run.document
    log.info(
        "joined run %s after round %d of %d: %s parameters, %d records here",
        *(document.run, checkpoint.settled, document.rounds.count),
        *(f"{document.model.parameters:,}", run.learner.records),
    )
    if run.privacy is not None:
        log.info("the whole run costs epsilon %.4g at most", run.privacy.rows.paper_unit.epsilon)
