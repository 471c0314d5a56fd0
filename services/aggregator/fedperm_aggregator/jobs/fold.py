"""The job that folds a sealed round and publishes the encrypted sum."""

import contextlib
import hashlib
from random import Random

from fedperm import aggregation
from fedperm.aggregation import BoundedUpdate, fold, rerandomise
from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef, BlobStore, damaged
from fedperm.clock import Clock
from fedperm.errors import ServiceError
from fedperm.fold_job import StoredMasks
from fedperm.norm_bound import BoundedValues
from fedperm.wire.aggregate import aggregate_body, encode_aggregate
from fedperm.wire.digest import sha256_of
from fedperm.wire.update import update_body
from fedperm.workers import Workers
from fedperm_aggregator import blob_names
from fedperm_aggregator.documents import Documents
from fedperm_aggregator.records import Aggregate, FoldProgress, Lease, SealedRound, UpdateTerms
from fedperm_aggregator.stores import Stores

PROGRESS_SECONDS = 1.0
"""Progress is told this often at most."""


class FoldHandler:
    def __init__(
        self,
        stores: Stores,
        documents: Documents,
        blobs: BlobStore,
        clock: Clock,
        randomness: Random,
    ) -> None:
        self._stores = stores
        self._documents = documents
        self._blobs = blobs
        self._clock = clock
        self._randomness = randomness

    def perform(self, lease: Lease, workers: Workers) -> None:
        sealed = self._stores.rounds.sealed(lease.run, lease.round)
        aggregate = self._fold(lease, sealed, workers)
        published = self._stores.rounds.publish(lease, aggregate, self._clock.now())
        if published != aggregate.sha256:
            # the lease was lost on the way: what another worker published stands
            self._blobs.remove(blob_names.aggregate(lease.run, lease.round, aggregate.sha256))

    def give_up(self, lease: Lease, reason: str) -> None:
        self._stores.rounds.give_up(lease, f"could not be folded: {reason}", self._clock.now())

    set_aside = give_up  # a round without its sum can only be aborted

    def _fold(self, lease: Lease, sealed: SealedRound, workers: Workers) -> Aggregate:
        """Written durably, but known to nobody yet."""
        terms = self._documents.terms(lease.run, sealed.epoch)
        plan, key = terms.plan, terms.public_key
        # minutes of work, which a full disk would waste at their end, again and again
        self._blobs.check_room(aggregate_body(plan, key).size)
        size = update_body(plan, key).size
        updates = [
            read_member(
                self._blobs.ref(
                    blob_names.upload(lease.run, lease.round, member.client, member.sha256),
                    member.sha256,
                    size,
                ),
                terms,
            )
            for member in sealed.members
        ]
        total, folding = fold(updates, plan, key, workers, self._teller(lease, "fold"))
        fresh, blinding = rerandomise(
            total, key, self._randomness, workers, self._teller(lease, "rerandomise")
        )
        body = encode_aggregate(fresh, plan, key)
        name = blob_names.aggregate(lease.run, lease.round, sha256_of(body))
        written = self._blobs.write(name, body)
        return Aggregate(
            written.sha256,
            written.size,
            fresh.contributors,
            folding.cpu_seconds,
            blinding.cpu_seconds,
        )

    def _teller(self, lease: Lease, phase: str) -> aggregation.Progress:
        """Tells how far a phase is, now and then; a busy database does not stop the fold."""
        told_at = self._clock.now()

        def tell(done: int, total: int) -> None:
            nonlocal told_at
            now = self._clock.now()
            if abs(now - told_at) >= PROGRESS_SECONDS:
                told_at = now
                mark = FoldProgress(lease.run, lease.round, phase, done, total)
                with contextlib.suppress(ServiceError):
                    self._stores.events.progress(mark, now)

        return tell


def read_member(upload: BlobRef, terms: UpdateTerms) -> BoundedUpdate:
    """A checked update as it is folded: its values bounded once more, which gives the same, its
    masks where they lie. An upload that changed since it was acknowledged is refused."""
    data = open_blob(upload).view()
    if hashlib.sha256(data).hexdigest() != upload.sha256:
        raise damaged()
    body = update_body(terms.plan, terms.public_key)
    values = body.decode(data)["values"]
    if terms.bound is None:
        bounded = BoundedValues(values.copy(), 0.0, 0.0)
    else:
        bounded = terms.bound.apply(values, terms.plan.fixed_point)
    return BoundedUpdate(StoredMasks(upload, body.offset_of("masks")), bounded.values)
