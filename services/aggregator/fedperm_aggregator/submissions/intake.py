"""Uploads: received, made durable, then acknowledged. In this order, whatever happens.

temporary blob -> its own name, durably -> row and job in one transaction -> answer
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock

from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.clock import Clock
from fedperm.errors import BusyError, ServiceError
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import SubmissionReceipt, SubmissionState
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import Manifest
from fedperm_aggregator import blob_names
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.records import Claim, NewUpdate, StoredUpdate
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.submissions.rules import check_digest, check_manifest, check_size, judge

_NO_DIGEST = "0" * 64
MOST_AT_ONCE = 2
"""Uploads of one client: the second may be the retry of one whose connection died."""


@dataclass(frozen=True)
class Upload:
    """A request's head: which place it is for, and what it says of its body."""

    run: str
    round: int
    sender: Participant
    size: int
    sha256: str
    manifest: str


@dataclass(frozen=True)
class Contribution:
    """An upload whose head was found right."""

    new: NewUpdate
    claim: Claim


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
        self._updates = stores.submissions
        self._documents = documents
        self._blobs = blobs
        self._presence = presence
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._sending: Counter[tuple[str, str]] = Counter()
        self._storing = Lock()

    async def take(
        self, upload: Upload, body: AsyncIterator[bytes]
    ) -> tuple[SubmissionReceipt, bool]:
        """The receipt, and whether the update is new."""
        contribution = await asyncio.to_thread(self._examine, upload)
        with self._place(upload):
            async with self._blobs.receive(body, upload.size, self._idle_seconds) as received:
                check_digest(received.sha256, upload.sha256, "the one in Content-Digest")
                stored, is_new = await asyncio.to_thread(self._store, contribution, received)
        receipt = SubmissionReceipt(
            sha256=stored.sha256, state=stored.state, received_at=stored.received_at
        )
        return receipt, is_new

    def _examine(self, upload: Upload) -> Contribution:
        """Everything that can be said before the body is read."""
        run, sender = upload.run, upload.sender
        manifest = verify(upload.manifest, Manifest, signing_key(sender.signing_key))
        check_manifest(manifest, self._expected_manifest(upload, manifest))
        claim = Claim(manifest.epoch, upload.sha256, sender.signing_key)
        slot = self._updates.slot(run, upload.round, sender.client)
        judge(slot, claim)
        self._presence.heard(run, sender.client, self._clock.now())
        terms = self._documents.terms(run, slot.epoch)
        check_size(upload.size, terms.body.size)
        new = NewUpdate(run, upload.round, sender.client, upload.size, upload.manifest)
        return Contribution(new, claim)

    def _expected_manifest(self, upload: Upload, claimed: Manifest) -> Manifest:
        """Of whichever epoch: the round decides about that. What digests its tensors have is seen
        when it is checked; each of them must be named."""
        document = self._documents.of(upload.run)
        named = {tensor.name: _NO_DIGEST for tensor in UPDATE.body(document.content).tensors}
        return Manifest(
            run=upload.run,
            document=document.sha256,
            round=upload.round,
            epoch=claimed.epoch,
            client=upload.sender.client,
            kind=UPDATE.name,
            sha256=upload.sha256,
            size=upload.size,
            tensors=claimed.tensors if claimed.tensors.keys() == named.keys() else named,
        )

    @contextmanager
    def _place(self, upload: Upload) -> Iterator[None]:
        key = (upload.run, upload.sender.client)
        if self._sending[key] >= MOST_AT_ONCE:
            raise BusyError("an upload of this client is under way", "wait until it is done")
        self._sending[key] += 1
        try:
            yield
        finally:
            self._sending[key] -= 1
            if not self._sending[key]:
                del self._sending[key]

    def _store(self, contribution: Contribution, received: BlobRef) -> tuple[StoredUpdate, bool]:
        """One at a time: a blob is removed again only if no row refers to it."""
        new, claim = contribution.new, contribution.claim
        name = blob_names.upload(new.run, new.round, new.client, claim.sha256)
        with self._storing:
            self._blobs.keep(received, name)
            try:
                return self._updates.store(new, claim, self._clock.now())
            finally:
                # a database that does not answer leaves the blob to the next sweep
                with suppress(ServiceError):
                    if not self._is_needed(contribution):
                        self._blobs.remove(name)

    def _is_needed(self, contribution: Contribution) -> bool:
        """Refused, or the same as one that was rejected or counted before: not needed."""
        new = contribution.new
        stored = self._updates.slot(new.run, new.round, new.client).stored
        return (
            stored is not None
            and stored.sha256 == contribution.claim.sha256
            and stored.state in {SubmissionState.STORED, SubmissionState.VALID}
        )
