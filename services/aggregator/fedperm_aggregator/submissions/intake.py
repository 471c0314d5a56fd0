"""Submissions: received, made durable, then acknowledged. In this order, whatever happens.

temporary blob -> a glance -> its own name, durably -> row and job in one transaction -> answer

A place is filled once: other bytes for it could be a second draw of noise. So what can be seen at a
glance is looked at before the place is taken, and a sender who has got the frame of his message
wrong may send the same numbers in the right one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.clock import Clock
from fedperm.errors import ServiceError
from fedperm.ids import RoundNumber, RunName
from fedperm.submissions import SubmissionKind
from fedperm.wire.aggregator import SubmissionReceipt, SubmissionState
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import Manifest
from fedperm_aggregator import blob_names
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.lane import Turns
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.records import Claim, NewSubmission, StoredSubmission, SubmissionPlace
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.submissions.rules import (
    check_digest,
    check_manifest,
    check_size,
    check_version,
    judge,
)

_NO_DIGEST = "0" * 64
MOST_AT_ONCE = 2
"""Uploads of one client: the second may be the retry of one whose connection died."""


@dataclass(frozen=True)
class Head:
    """Of a request: which place it is for, and what it says of its body."""

    kind: SubmissionKind
    run: RunName
    round: RoundNumber
    sender: Participant
    size: int
    sha256: str
    manifest: str

    @property
    def place(self) -> SubmissionPlace:
        return SubmissionPlace(self.kind.name, self.run, self.round, self.sender.client)


@dataclass(frozen=True)
class Admitted:
    """A submission whose head was found right; `is_known` if its bytes were stored before."""

    new: NewSubmission
    claim: Claim
    kind: SubmissionKind
    is_known: bool


class Intake:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        blobs: BlobStore,
        presence: Presence,
        clock: Clock,
        idle_seconds: float,
    ) -> None:
        self._submissions = stores.submissions
        self._documents = documents
        self._blobs = blobs
        self._presence = presence
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._turns = Turns(MOST_AT_ONCE)
        self._storing = Lock()

    async def take(self, head: Head, body: AsyncIterator[bytes]) -> tuple[SubmissionReceipt, bool]:
        """The receipt, and whether the submission is new."""
        admitted = await asyncio.to_thread(self._examine, head)
        with self._turns.of((head.run, head.sender.client), "an upload"):
            async with self._blobs.receive(body, head.size, self._idle_seconds) as received:
                check_digest(received.sha256, head.sha256, "the one in Content-Digest")
                stored, is_new = await asyncio.to_thread(self._store, admitted, received)
        receipt = SubmissionReceipt(
            sha256=stored.sha256, state=stored.state, received_at=stored.received_at
        )
        return receipt, is_new

    def _examine(self, head: Head) -> Admitted:
        """Everything that can be said before the body is read."""
        run, sender = head.run, head.sender
        manifest = verify(head.manifest, Manifest, signing_key(sender.signing_key))
        check_version(manifest)
        document = self._documents.of(run)
        body = head.kind.body(document.content)
        # of whichever epoch: the round decides about that. What digests its tensors have is seen
        # when it is checked; each of them must be named
        named = {tensor.name: _NO_DIGEST for tensor in body.tensors}
        expected = Manifest(
            run=run,
            document=document.sha256,
            round=head.round,
            epoch=manifest.epoch,
            client=sender.client,
            kind=head.kind.name,
            sha256=head.sha256,
            size=head.size,
            tensors=manifest.tensors if manifest.tensors.keys() == named.keys() else named,
        )
        check_manifest(manifest, expected)
        claim = Claim(head.kind.name, manifest.epoch, head.sha256, sender.signing_key)
        is_known = judge(self._submissions.slot(head.place), claim) is not None
        self._presence.heard(run, sender.client, self._clock.now())
        check_size(head.size, body.size)
        new = NewSubmission(head.place, head.sha256, head.size, head.manifest)
        return Admitted(new, claim, head.kind, is_known)

    def _store(self, admitted: Admitted, received: BlobRef) -> tuple[StoredSubmission, bool]:
        """One at a time: a blob is removed again only if no row refers to it."""
        new, claim = admitted.new, admitted.claim
        if not admitted.is_known:
            terms = self._documents.terms(new.place.run, claim.epoch)
            admitted.kind.glance(open_blob(received).view(), terms)
        name = blob_names.submission(new.place, claim.sha256)
        with self._storing:
            self._blobs.keep(received, name)
            try:
                return self._submissions.store(
                    new, lambda slot: judge(slot, claim), self._clock.now()
                )
            finally:
                # a database that does not answer leaves the blob to the next sweep
                with suppress(ServiceError):
                    if not self._is_needed(admitted):
                        self._blobs.remove(name)

    def _is_needed(self, admitted: Admitted) -> bool:
        """Not if it was refused, or is the same as one that was rejected or counted before; nor
        when its round is closed, unless its phase keeps it."""
        place = admitted.new.place
        slot = self._submissions.slot(place)
        if slot.stored is None or slot.stored.sha256 != admitted.claim.sha256:
            return False
        kept = place.kind in self._documents.phases(place.run).kinds(kept=True)
        return slot.stored.state in {SubmissionState.STORED, SubmissionState.VALID} and (
            kept or not slot.is_closed
        )
