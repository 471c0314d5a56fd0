"""Threads that carry out leased jobs; the heavy part of each is done by workers."""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from random import Random
from typing import Protocol

from fedperm.clock import Clock
from fedperm.durable_file import says_disk_is_full
from fedperm.errors import BusyError, FedPermError, ServiceError
from fedperm.workers import Workers
from fedperm_aggregator.jobs.pool import WorkerPool
from fedperm_aggregator.records import JobKind, Lease
from fedperm_aggregator.stores.jobs import JobStore

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
"""Of a job that raises an error."""
MAX_LOST = 5
"""Workers that may be lost while a job runs alone, before it is set aside."""
PAUSE_SECONDS = 0.5
"""Between attempts, times the number of attempts made."""
OUTAGE_PAUSE_SECONDS = 5.0
"""Before a job that found no room on the disk, or no database, is tried again."""


class JobHandler(Protocol):
    """One kind of job."""

    def perform(self, lease: Lease, workers: Workers) -> None:
        """Does the work and writes its result, if the lease is still owned then."""

    def give_up(self, lease: Lease, reason: str) -> None:
        """After the last attempt."""

    def set_aside(self, lease: Lease, reason: str) -> None:
        """After too many workers were lost. Whether the job kills them or the machine does cannot
        be told, so this must not be held against whoever sent what the job is about."""


class JobRunner:
    """A job that raises an error is tried MAX_ATTEMPTS times.

    A lost worker costs no attempt. It may take other jobs with it: a process that dies breaks its
    pool. All jobs that were lost are suspects then, and jobs run one at a time until no suspect is
    left: only a job whose workers are lost while it runs alone, MAX_LOST times, is set aside. So
    one bad upload cannot do its neighbours harm. These losses are counted in memory: a restart
    begins anew.

    Nor is a job charged with a full disk or a database that does not answer: it is tried again for
    as long as that lasts. A round is not aborted because a disk was full for an hour."""

    def __init__(
        self,
        jobs: JobStore,
        handlers: Mapping[JobKind, JobHandler],
        pool: WorkerPool,
        clock: Clock,
        randomness: Random,
        lease_seconds: float,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._pool = pool
        self._clock = clock
        self._randomness = randomness
        self._lease_seconds = lease_seconds
        self._hands = 2 * pool.workers.count
        self._threads = ThreadPoolExecutor(self._hands, "jobs")
        self._at_work: dict[Lease, Future[None]] = {}
        self._suspects: set[int] = set()
        self._losses: Counter[int] = Counter()
        self._held_up: dict[int, str] = {}
        self._is_stopping = False

    def take_over(self) -> None:
        """Whoever held leases before is gone."""
        self._jobs.free_all()

    def keep_leases(self) -> None:
        """Before anything is claimed: this process must not take its own jobs for abandoned."""
        self._reap()
        if self._at_work:
            self._jobs.renew(self._at_work, self._clock.now() + self._lease_seconds)

    def start_jobs(self) -> None:
        """As many as there are hands for."""
        is_alone = bool(self._suspects)
        free = (1 if is_alone else self._hands) - len(self._at_work)
        if free <= 0 or self._is_stopping:
            return
        now = self._clock.now()
        for lease in self._jobs.claim(now, self._lease_seconds, free, self._randomness):
            self._at_work[lease] = self._threads.submit(self._carry_out, lease, is_alone)

    def rest(self, seconds: float) -> None:
        """So long, or until one of the jobs is done: what follows from it is due then."""
        at_work = list(self._at_work.values())
        if at_work:
            wait(at_work, seconds, FIRST_COMPLETED)
        else:
            time.sleep(seconds)

    def check(self) -> None:
        """Raises if jobs are held up."""
        for reason in list(self._held_up.values()):
            raise BusyError(f"jobs cannot be done: {reason}", "they are tried again by themselves")

    def finish(self) -> None:
        """Waits for what was started."""
        wait(list(self._at_work.values()))

    def stop(self) -> None:
        """Gives back what is unfinished."""
        self._is_stopping = True
        self._pool.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _reap(self) -> None:
        for lease, future in list(self._at_work.items()):
            if future.done():
                if error := future.exception():
                    # not even the failure could be written down
                    self._hold_up(lease, error)
                del self._at_work[lease]

    def _carry_out(self, lease: Lease, is_alone: bool) -> None:
        workers = self._pool.workers
        try:
            self._handlers[lease.kind].perform(lease, workers)
        except workers.lost as error:
            self._lose(lease, error, workers, is_alone)
        except Exception as error:
            self._suspects.discard(lease.job)
            self._fail(lease, error)
        else:
            self._forget(lease)

    def _lose(self, lease: Lease, error: Exception, workers: Workers, is_alone: bool) -> None:
        """The worker is gone, for whatever reason. It costs the job no attempt."""
        self._suspects.add(lease.job)
        if self._is_stopping:
            self._jobs.give_back(lease)
            return
        if isinstance(error, BrokenExecutor):
            self._pool.replace(workers)
        if not is_alone:
            log.warning("a worker was lost; the jobs under way are tried again one at a time")
            self._jobs.give_back(lease)
            return
        self._held_up.pop(lease.job, None)
        self._losses[lease.job] += 1
        losses, cause = self._losses[lease.job], type(error).__name__
        log.warning("a job lost its worker, %d of %d times", losses, MAX_LOST, exc_info=error)
        if losses < MAX_LOST:
            self._try_again(lease, f"its worker was lost ({cause})", losses, charged=False)
        else:
            reason = f"its worker was lost {losses} times ({cause})"
            self._handlers[lease.kind].set_aside(lease, reason)
            self._forget(lease)

    def _fail(self, lease: Lease, error: Exception) -> None:
        if self._is_stopping:
            self._jobs.give_back(lease)
            return
        if isinstance(error, ServiceError) or says_disk_is_full(error):
            self._hold_up(lease, error)
            return
        self._held_up.pop(lease.job, None)
        reason = _in_words(error)
        log.warning("attempt %d failed: %s", lease.attempt, reason, exc_info=error)
        if lease.attempt < MAX_ATTEMPTS:
            self._try_again(lease, reason, lease.attempt, charged=True)
        else:
            self._handlers[lease.kind].give_up(lease, f"{reason} ({MAX_ATTEMPTS} attempts)")
            self._forget(lease)

    def _try_again(self, lease: Lease, reason: str, times: int, *, charged: bool) -> None:
        pause = min(PAUSE_SECONDS * times, self._lease_seconds)
        self._jobs.try_again(lease, reason, self._clock.now(), pause, charged=charged)

    def _forget(self, lease: Lease) -> None:
        """The job is over. Its number may be another's soon."""
        self._suspects.discard(lease.job)
        self._losses.pop(lease.job, None)
        self._held_up.pop(lease.job, None)

    def _hold_up(self, lease: Lease, error: BaseException) -> None:
        """Said once, however long it lasts. If the job cannot be given back now, it is at the next
        tick."""
        reason = _in_words(error)
        if self._held_up.get(lease.job) != reason:
            self._held_up[lease.job] = reason
            log.error("a job has to wait: %s", reason, exc_info=error)
        pause = min(OUTAGE_PAUSE_SECONDS, self._lease_seconds)
        self._jobs.give_back(lease, self._clock.now() + pause)


def _in_words(error: BaseException) -> str:
    if says_disk_is_full(error):
        return "no room left on the disk"
    return error.message if isinstance(error, FedPermError) else type(error).__name__
