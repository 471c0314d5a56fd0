"""Rows by name, or the refusal that says what is missing."""

from sqlalchemy.orm import Session

from fedperm.errors import UnknownResourceError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm_aggregator.records import SubmissionPlace
from fedperm_aggregator.tables import ParticipantRow, RoundRow, RunRow, SubmissionRow


def the_run(session: Session, run: RunName) -> RunRow:
    row = session.get(RunRow, run)
    if row is None:
        raise UnknownResourceError(f"there is no run {run}", "check its name, or create it")
    return row


def the_participant(session: Session, run: RunName, client: ClientName) -> ParticipantRow:
    row = session.get(ParticipantRow, (run, client))
    if row is None:
        raise UnknownResourceError(f"{client} has not joined run {run}", "join the run first")
    return row


def the_round(session: Session, run: RunName, number: RoundNumber) -> RoundRow:
    row = session.get(RoundRow, (run, number))
    if row is None:
        raise UnknownResourceError(
            f"round {number} of run {run} was not opened yet", "ask for the next task"
        )
    return row


def place_of(row: SubmissionRow) -> SubmissionPlace:
    return SubmissionPlace(row.kind, row.run, row.round, row.client)


def the_submission(session: Session, place: SubmissionPlace) -> SubmissionRow:
    row = session.get(SubmissionRow, (place.run, place.round, place.kind, place.client))
    if row is None:
        raise UnknownResourceError(
            f"there is no {place.kind} of {place.client} for round {place.round}",
            "upload one while it is open",
        )
    return row
