"""The job that checks an update and writes down what was found."""

from fedperm.clock import Clock
from fedperm_aggregator.blobs import Blobs
from fedperm_aggregator.checking import CheckJob, check_update
from fedperm_aggregator.documents import Documents
from fedperm_aggregator.pool import WorkerPool
from fedperm_aggregator.records import Lease, Verdict
from fedperm_aggregator.stores import Stores


class Validation:
    def __init__(
        self, stores: Stores, documents: Documents, blobs: Blobs, pool: WorkerPool, clock: Clock
    ) -> None:
        self._updates = stores.updates
        self._participants = stores.participants
        self._documents = documents
        self._blobs = blobs
        self._pool = pool
        self._clock = clock

    def perform(self, lease: Lease) -> None:
        task = self._updates.check_task(lease)
        path = self._blobs.upload(lease.run, lease.round, lease.client, task.sha256)
        job = CheckJob(path, self._documents.terms(lease.run, task.epoch))
        verdict = self._pool.workers.executor.submit(check_update, job).result()
        if verdict.reveals_key:
            # before the verdict ends the job: after a crash in between both are done again
            self._participants.exclude(lease.run, lease.client, self._clock.now())
        written = self._updates.settle(lease, verdict, self._clock.now())
        if written and verdict.reason:
            # not needed any more, and it may hold a factor of the key
            self._blobs.remove(path)

    def give_up(self, lease: Lease, reason: str) -> None:
        verdict = Verdict(reason=f"could not be checked: {reason}")
        self._updates.settle(lease, verdict, self._clock.now())
