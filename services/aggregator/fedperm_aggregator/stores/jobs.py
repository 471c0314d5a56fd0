"""Work that survives a crash: claimed for a while, renewed, and claimed again when abandoned.

A claim gives the job a new `owner`. Results are written only for the owner of the moment, so a
worker that was stopped past its lease cannot write over what another did meanwhile.
"""

from collections.abc import Collection
from random import Random

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.wire.events import JobFailed
from fedperm_aggregator.records import Lease
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.tables import JobRow

_OWNER_BITS = 128


def owned_job(session: Session, lease: Lease) -> JobRow | None:
    """The job, if nobody has claimed it since."""
    row = session.get(JobRow, lease.job)
    return row if row is not None and row.owner == lease.owner else None


class JobStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def claim(
        self, session: Session, now: float, lease_seconds: float, most: int, randomness: Random
    ) -> list[Lease]:
        """The oldest jobs that nobody holds. A lease that ends further in the future than any
        can is from before the clock was set back, and counts for nothing."""
        free = or_(JobRow.free_at <= now, JobRow.free_at > now + lease_seconds)
        rows = session.scalars(select(JobRow).where(free).order_by(JobRow.id).limit(most)).all()
        for row in rows:
            row.owner = f"{randomness.getrandbits(_OWNER_BITS):032x}"
            row.free_at = now + lease_seconds
            row.attempts += 1
        return [_lease(row) for row in rows]

    @transaction
    def renew(self, session: Session, leases: Collection[Lease], until: float) -> None:
        """Those that were lost meanwhile stay lost."""
        owners = [lease.owner for lease in leases]
        session.execute(update(JobRow).where(JobRow.owner.in_(owners)).values(free_at=until))

    @transaction
    def give_back(self, session: Session, lease: Lease, free_at: float = 0.0) -> None:
        """Unfinished through no fault of the job: the attempt does not count."""
        row = owned_job(session, lease)
        if row is not None:
            row.owner, row.free_at, row.attempts = None, free_at, row.attempts - 1

    @transaction
    def try_again(
        self,
        session: Session,
        lease: Lease,
        reason: str,
        now: float,
        pause_seconds: float,
        *,
        charged: bool = True,
    ) -> None:
        """`charged`: the attempt counts."""
        row = owned_job(session, lease)
        if row is None:
            return
        row.owner, row.free_at = None, now + pause_seconds
        if not charged:
            row.attempts -= 1
        failed = JobFailed(kind=lease.kind.value, attempt=lease.attempt, reason=reason)
        record(session, lease.run, now, failed, number=lease.round, client=lease.client)

    @transaction
    def free_all(self, session: Session) -> None:
        """At the start of the only process: whoever held a lease is gone."""
        session.execute(update(JobRow).values(owner=None, free_at=0.0))


def _lease(row: JobRow) -> Lease:
    assert row.owner is not None  # noqa: S101 (claimed a moment ago)
    return Lease(
        job=row.id,
        owner=row.owner,
        kind=row.kind,
        run=row.run,
        round=row.round,
        submission=row.submission,
        client=row.client,
        attempt=row.attempts,
    )
