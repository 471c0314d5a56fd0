"""Rounds: what is known of them, and their steps from open to settled."""

from collections.abc import Callable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.crash_points import specify
from fedperm.database import Database, transaction
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.wire.aggregator import RoundState
from fedperm_aggregator.records import (
    Aggregate,
    Decision,
    Lease,
    Member,
    Progress,
    RoundName,
    RunView,
    SealedRound,
    Wait,
)
from fedperm_aggregator.stores.decisions import (
    abort_round,
    carry_out,
    valid_updates,
)
from fedperm_aggregator.stores.jobs import owned_job
from fedperm_aggregator.stores.lookup import place_of, the_round, the_run
from fedperm_aggregator.stores.views import progress_of, run_view
from fedperm_aggregator.tables import RoundRow


class RoundStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def advance(
        self,
        session: Session,
        run: RunName,
        is_online: Callable[[ClientName], bool],
        choose: Callable[[RunView], Decision],
        now: float,
    ) -> Decision:
        """Looks, decides and does in one transaction: no upload comes in between."""
        row = the_run(session, run)
        if row.state.is_over:
            return Wait(row.state, row.reason)
        decision = choose(run_view(session, row, is_online))
        specify(type(decision))
        carry_out(decision, session, row, now)
        return decision

    @transaction
    def progress(self, session: Session, run: RunName) -> Progress:
        return progress_of(session, the_run(session, run))

    @transaction
    def sealed(self, session: Session, run: RunName, number: RoundNumber) -> SealedRound:
        row = the_round(session, run, number)
        members = (Member(place_of(u), u.sha256) for u in valid_updates(session, row))
        return SealedRound(row.epoch, tuple(members))

    @transaction
    def keep_aggregate(self, session: Session, lease: Lease, aggregate: Aggregate) -> str | None:
        """The digest of the round's aggregate: this one, or another worker's if the lease was lost,
        or none if the round was given up. It is published when its phase is over."""
        row = the_round(session, lease.run, lease.round)
        job = owned_job(session, lease)
        if job is None or row.state is not RoundState.SEALED:
            return row.aggregate_sha256
        session.delete(job)
        row.aggregate_sha256, row.aggregate_size = aggregate.sha256, aggregate.size
        row.contributors = aggregate.contributors
        row.folding_cpu = aggregate.folding_cpu
        row.rerandomising_cpu = aggregate.rerandomising_cpu
        return aggregate.sha256

    @transaction
    def give_up(self, session: Session, lease: Lease, reason: str, now: float) -> None:
        """Folding failed too often: the round is aborted."""
        job = owned_job(session, lease)
        if job is not None:
            session.delete(job)
            abort_round(session, the_round(session, lease.run, lease.round), reason, now)

    @transaction
    def to_scrub(self, session: Session) -> Sequence[RoundName]:
        """Closed rounds of which something may still lie on the disk."""
        rows = select(RoundRow).where(RoundRow.phase == "", RoundRow.scrubbed.is_(False))
        return [RoundName(row.run, row.number) for row in session.scalars(rows)]

    @transaction
    def mark_scrubbed(self, session: Session, name: RoundName) -> None:
        the_round(session, name.run, name.number).scrubbed = True

    @transaction
    def aggregates(self, session: Session, run: RunName) -> dict[RoundNumber, str]:
        """Digests of all aggregates of a run, by round."""
        rows = select(RoundRow).where(RoundRow.run == run, RoundRow.aggregate_sha256.is_not(None))
        return {row.number: row.aggregate_sha256 or "" for row in session.scalars(rows)}
