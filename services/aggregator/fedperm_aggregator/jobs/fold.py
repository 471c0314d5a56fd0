"""The job that folds a sealed round into the encrypted sum."""

import contextlib
from collections.abc import Callable
from random import Random

from fedperm.aggregate import aggregate_body, encode_aggregate
from fedperm.blobs.store import BlobStore
from fedperm.clock import Clock
from fedperm.errors import ServiceError
from fedperm.ids import RunName
from fedperm.schemes.scheme import OnProgress
from fedperm.wire.digest import sha256_of
from fedperm.workers import Workers
from fedperm_aggregator import blob_names
from fedperm_aggregator.records import Aggregate, FoldProgress, Lease, SealedRound
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores

PROGRESS_SECONDS = 1.0
"""Progress is told this often at most."""


class FoldHandler:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        blobs: BlobStore,
        clock: Clock,
        randomness: Random,
        move_on: Callable[[RunName], object],
    ) -> None:
        """`move_on` takes a run's next step, here the end of the phase."""
        self._move_on = move_on
        self._stores = stores
        self._documents = documents
        self._blobs = blobs
        self._clock = clock
        self._randomness = randomness

    def perform(self, lease: Lease, workers: Workers) -> None:
        sealed = self._stores.rounds.sealed(lease.run, lease.round)
        aggregate = self._fold(lease, sealed, workers)
        kept = self._stores.rounds.keep_aggregate(lease, aggregate)
        if kept != aggregate.sha256:
            # the lease was lost on the way: what another worker wrote stands
            self._blobs.remove(blob_names.aggregate(lease.run, lease.round, aggregate.sha256))
            return
        with contextlib.suppress(ServiceError):
            # at once; if it cannot be now, the next tick does it
            self._move_on(lease.run)

    def give_up(self, lease: Lease, reason: str) -> None:
        self._stores.rounds.give_up(lease, f"could not be folded: {reason}", self._clock.now())

    set_aside = give_up  # a round without its sum can only be aborted

    def _fold(self, lease: Lease, sealed: SealedRound, workers: Workers) -> Aggregate:
        """Written durably, but known to nobody yet."""
        terms = self._documents.terms(lease.run, sealed.epoch)
        # minutes of work, which a full disk would waste at their end, again and again
        self._blobs.check_room(aggregate_body(terms.plan).size)
        members = [
            self._blobs.ref(
                blob_names.submission(member.place, member.sha256),
                member.sha256,
                terms.body.size,
            )
            for member in sealed.members
        ]
        summed = terms.form.sum_up(
            members, terms, workers, self._randomness, lambda phase: self._teller(lease, phase)
        )
        body = encode_aggregate(summed.total, terms.plan)
        name = blob_names.aggregate(lease.run, lease.round, sha256_of(body))
        written = self._blobs.write(name, body)
        return Aggregate(
            written.sha256,
            written.size,
            summed.total.contributors,
            summed.folding.cpu_seconds,
            summed.rerandomising.cpu_seconds,
        )

    def _teller(self, lease: Lease, phase: str) -> OnProgress:
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
