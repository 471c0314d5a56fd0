"""Sealed checkpoints, for clients that join late: the run's contributors vouch for them, and the
aggregator, which cannot read them, keeps the newest."""

import asyncio
import logging
from collections.abc import AsyncIterator

from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.errors import GoneError, UnknownResourceError, UntrustedError
from fedperm.ids import RoundNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import CheckpointOffer, SignedCheckpoint
from fedperm.wire.checkpoint import sealed_body
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import CheckpointStatement, ClientCertificate
from fedperm_aggregator import blob_names
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.lane import Turns
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.records import SealedCheckpoint, Vouching
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.submissions.rules import check_digest, check_size

log = logging.getLogger(__name__)


class Checkpoints:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        blobs: BlobStore,
        participants: Participants,
        idle_seconds: float,
    ) -> None:
        self._store = stores.checkpoints
        self._documents = documents
        self._blobs = blobs
        self._participants = participants
        self._idle_seconds = idle_seconds
        self._turns = Turns(1)

    def vouch(
        self, run: RunName, number: RoundNumber, who: Participant, signed: SignedCheckpoint
    ) -> bool:
        """Whether the client is to send the octets, too."""
        self._participants.check(run, who)
        statement = _statement(signed, number, who, self._documents.of(run))
        said = SealedCheckpoint(
            run=run,
            round=number,
            epoch=statement.epoch,
            lineage=statement.lineage,
            sha256=statement.sha256,
            size=statement.size,
        )
        return self._store.vouch(Vouching(who.client, said, signed.statement, signed.certificate))

    async def take(
        self,
        run: RunName,
        number: RoundNumber,
        who: Participant,
        size: int,
        sha256: str,
        body: AsyncIterator[bytes],
    ) -> None:
        """Only what more than half of the round's contributors have signed: durable, then on
        offer, and only then is the one before it removed."""
        wanted = await asyncio.to_thread(self._wanted, run, number, who)
        check_digest(sha256, wanted.sha256, "the one that was signed")
        check_size(size, wanted.size)
        with self._turns.of((run, who.client), "a checkpoint"):
            async with self._blobs.receive(body, size, self._idle_seconds) as received:
                check_digest(received.sha256, wanted.sha256, "the one that was signed")
                await asyncio.to_thread(self._keep, received, wanted)

    def offer(self, run: RunName) -> CheckpointOffer:
        offer = self._store.offer(run)
        if offer is None:
            raise UnknownResourceError(
                f"run {run} has no sealed checkpoint that most contributors have signed",
                "replay the rounds, or ask again after the next one",
            )
        return offer

    def sealed(self, run: RunName, sha256: str) -> BlobRef:
        """The octets of the one on offer."""
        kept = self._store.offered(run)
        if kept is None or kept.sha256 != sha256:
            raise UnknownResourceError(
                f"run {run} has no such checkpoint, or a newer one by now", "ask for the newest"
            )
        return self._blobs.ref(blob_names.checkpoint(kept), kept.sha256, kept.size)

    def _wanted(self, run: RunName, number: RoundNumber, who: Participant) -> SealedCheckpoint:
        self._participants.check(run, who)
        wanted = self._store.wanted(run, number, who.client)
        if wanted is None:
            raise GoneError(
                f"no checkpoint of round {number} is wanted of {who.client}", "keep it to yourself"
            )
        return wanted

    def _keep(self, received: BlobRef, wanted: SealedCheckpoint) -> None:
        self._blobs.keep(received, blob_names.checkpoint(wanted))
        former = self._store.keep(wanted)
        if former is not None:
            self._blobs.remove(blob_names.checkpoint(former))
        log.info("round %d: a checkpoint is on offer", wanted.round)


def _statement(
    signed: SignedCheckpoint, number: RoundNumber, who: Participant, document: FrozenDocument
) -> CheckpointStatement:
    """If the client said it, and of this run: others will not believe anything else."""
    content = document.content
    certificate = verify(
        signed.certificate, ClientCertificate, signing_key(content.key.signing_key)
    )
    named = (certificate.key, certificate.client, certificate.signing_key)
    if named != (content.key.key, who.client, who.signing_key):
        raise UntrustedError("the certificate is another client's", "send your own")
    statement = verify(signed.statement, CheckpointStatement, signing_key(who.signing_key))
    expected = statement.model_copy(
        update={
            "run": content.run,
            "document": document.sha256,
            "round": number,
            "client": who.client,
            "size": sealed_body(content.model.parameters).size,
        }
    )
    if statement != expected:
        raise UntrustedError(
            "the statement is of another checkpoint", "sign one of exactly this run and round"
        )
    return statement
