"""What may be told of a round: to participants, to its sender, to the operator."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.wire.aggregator import (
    AggregateReference,
    AggregatorSeconds,
    ClientReport,
    NamedReport,
    RoundOutcome,
    RoundReport,
    RoundState,
    SubmissionReport,
    SubmissionState,
)
from fedperm.wire.events import ClientReported
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import SubmissionPlace
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.lookup import the_participant, the_round, the_submission
from fedperm_aggregator.tables import ReportRow, RoundRow, SelectionRow, SubmissionRow


class ReportStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def outcome(self, session: Session, run: RunName, number: RoundNumber) -> RoundOutcome:
        row = the_round(session, run, number)
        return _outcome(session, row, _submissions(session, row))

    @transaction
    def submission(self, session: Session, place: SubmissionPlace) -> SubmissionReport:
        the_round(session, place.run, place.round)
        return _submission(the_submission(session, place))

    @transaction
    def round(self, session: Session, run: RunName, number: RoundNumber) -> RoundReport:
        return _round(session, the_round(session, run, number))

    @transaction
    def rounds(self, session: Session, run: RunName) -> tuple[RoundReport, ...]:
        rows = select(RoundRow).where(RoundRow.run == run).order_by(RoundRow.number)
        return tuple(_round(session, row) for row in session.scalars(rows).all())

    @transaction
    def add(
        self,
        session: Session,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        report: ClientReport,
        now: float,
    ) -> None:
        """The first one stays."""
        the_participant(session, run, client)
        if not the_round(session, run, number).state.is_settled:
            raise ConflictError(f"round {number} is not settled", "report when it is")
        if session.get(ReportRow, (run, number, client)) is not None:
            return
        text = report.model_dump_json()
        row = ReportRow(run=run, round=number, client=client, report=text, received_at=now)
        session.add(row)
        told = ClientReported(**dict(report))
        record(session, run, now, told, number=number, client=client)


def _submissions(session: Session, row: RoundRow) -> Sequence[SubmissionRow]:
    rows = select(SubmissionRow).where(
        SubmissionRow.run == row.run, SubmissionRow.round == row.number
    )
    return session.scalars(rows.order_by(SubmissionRow.kind, SubmissionRow.client)).all()


def _asked(session: Session, row: RoundRow, kind: str) -> tuple[ClientName, ...]:
    rows = select(SelectionRow.client).where(
        SelectionRow.run == row.run, SelectionRow.round == row.number, SelectionRow.kind == kind
    )
    return tuple(session.scalars(rows.order_by(SelectionRow.client)))


def _outcome(session: Session, row: RoundRow, submissions: Sequence[SubmissionRow]) -> RoundOutcome:
    return RoundOutcome(
        round=row.number,
        state=row.state,
        epoch=row.epoch,
        selected=_asked(session, row, UPDATE_KIND),
        included=tuple(s.client for s in submissions if s.state is SubmissionState.INCLUDED),
        aggregate=_reference(row),
        reason=row.reason,
    )


def _reference(row: RoundRow) -> AggregateReference | None:
    """Once it is published, or a later phase asks clients about it; it is written before."""
    is_told = row.state is RoundState.PUBLISHED or row.collects
    if row.aggregate_sha256 is None or not is_told:
        return None
    return AggregateReference(
        sha256=row.aggregate_sha256,
        size=row.aggregate_size or 0,
        contributors=row.contributors or 0,
    )


def _submission(row: SubmissionRow) -> SubmissionReport:
    return SubmissionReport(
        kind=row.kind,
        client=row.client,
        state=row.state,
        reason=row.reason,
        size=row.size,
        received_at=row.received_at,
        norm_before=row.norm_before,
        norm_after=row.norm_after,
        bounded=row.bounded,
    )


def _round(session: Session, row: RoundRow) -> RoundReport:
    submissions = _submissions(session, row)
    reports = select(ReportRow).where(ReportRow.run == row.run, ReportRow.round == row.number)
    return RoundReport(
        outcome=_outcome(session, row, submissions),
        phase=row.phase,
        collects=row.collects,
        asked=_asked(session, row, row.collects),
        opened_at=row.opened_at,
        deadline_at=row.deadline_at,
        extensions=row.extensions,
        sealed_at=row.sealed_at,
        settled_at=row.settled_at,
        submissions=tuple(map(_submission, submissions)),
        reports=tuple(map(_named, session.scalars(reports.order_by(ReportRow.client)))),
        seconds=_seconds(row, submissions),
    )


def _named(row: ReportRow) -> NamedReport:
    return NamedReport(client=row.client, report=ClientReport.model_validate_json(row.report))


def _seconds(row: RoundRow, submissions: Sequence[SubmissionRow]) -> AggregatorSeconds:
    closed_at = row.sealed_at or row.settled_at
    return AggregatorSeconds(
        open=_between(row.opened_at, closed_at),
        fold=_between(row.sealed_at, row.settled_at),
        validation_cpu=sum(submission.cpu_seconds for submission in submissions),
        folding_cpu=row.folding_cpu,
        rerandomising_cpu=row.rerandomising_cpu,
    )


def _between(start: float | None, end: float | None) -> float:
    """0 before the end; clocks may be set back meanwhile."""
    return 0.0 if start is None or end is None else max(0.0, end - start)
