"""Rows by name, or the refusal that says what is missing."""

from sqlalchemy.orm import Session

from fedperm.errors import UnknownResourceError
from fedperm_aggregator.tables import ParticipantRow, RoundRow, RunRow, UpdateRow


def the_run(session: Session, run: str) -> RunRow:
    row = session.get(RunRow, run)
    if row is None:
        raise UnknownResourceError(f"there is no run {run}", "check its name, or create it")
    return row


def the_participant(session: Session, run: str, client: str) -> ParticipantRow:
    row = session.get(ParticipantRow, (run, client))
    if row is None:
        raise UnknownResourceError(f"{client} has not joined run {run}", "join the run first")
    return row


def the_round(session: Session, run: str, number: int) -> RoundRow:
    row = session.get(RoundRow, (run, number))
    if row is None:
        raise UnknownResourceError(
            f"round {number} of run {run} was not opened yet", "ask for the next task"
        )
    return row


def the_update(session: Session, run: str, number: int, client: str) -> UpdateRow:
    row = session.get(UpdateRow, (run, number, client))
    if row is None:
        raise UnknownResourceError(
            f"there is no update of {client} for round {number}", "upload one while it is open"
        )
    return row
