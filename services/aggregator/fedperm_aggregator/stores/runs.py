"""Runs: their documents, key epochs and states."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError, UnknownResourceError
from fedperm.ids import NO_CLIENT, NO_EPOCH, NO_ROUND, ClientName, EpochNumber, RunName
from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import KeyEpoch, RunState, RunStatus
from fedperm.wire.events import (
    InitialModelStored,
    KeyEpochAdded,
    RunCreated,
    RunResumed,
    RunStopped,
)
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.lookup import the_run
from fedperm_aggregator.tables import EpochRow, ParticipantRow, RoundRow, RunRow


def newest_epoch(session: Session, run: RunName) -> EpochNumber:
    """0 without one."""
    return session.scalar(select(func.max(EpochRow.epoch)).where(EpochRow.run == run)) or NO_EPOCH


def newest_round(session: Session, run: RunName) -> RoundRow | None:
    rounds = select(RoundRow).where(RoundRow.run == run)
    return session.scalar(rounds.order_by(RoundRow.number.desc()).limit(1))


def put_epoch_beside(
    session: Session,
    run: RunName,
    epoch: EpochNumber,
    text: str,
    now: float,
    client: ClientName = NO_CLIENT,
) -> None:
    """Within a transaction that has seen that it is newer than all others; `client` is who brought
    it, if not the operator."""
    session.add(EpochRow(run=run, epoch=epoch, record=text, received_at=now))
    record(session, run, now, KeyEpochAdded(epoch=epoch), client=client)


class RunStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def ping(self, session: Session) -> None:
        """Raises if the database does not answer."""
        session.execute(select(1))

    @transaction
    def create(self, session: Session, document: FrozenDocument, now: float) -> bool:
        """Whether it is new; other bytes under the same name are refused."""
        name = document.content.run
        known = session.get(RunRow, name)
        if known is not None:
            _refuse_another(known, document)
            return False
        session.add(
            RunRow(
                run=name,
                document=document.octets,
                signature=document.signature,
                sha256=document.sha256,
                rounds=document.content.rounds.count,
                state=RunState.WAITING,
                reason="waits for the initial model",
                created_at=now,
            )
        )
        record(session, name, now, RunCreated(document=document.sha256))
        return True

    @transaction
    def document(self, session: Session, run: RunName) -> FrozenDocument:
        row = the_run(session, run)
        return FrozenDocument(row.document, row.signature)

    @transaction
    def status(self, session: Session, run: RunName) -> RunStatus:
        return _status(session, the_run(session, run))

    @transaction
    def statuses(self, session: Session) -> tuple[RunStatus, ...]:
        rows = session.scalars(select(RunRow).order_by(RunRow.created_at, RunRow.run))
        return tuple(_status(session, row) for row in rows)

    @transaction
    def names(self, session: Session) -> Sequence[RunName]:
        return session.scalars(select(RunRow.run)).all()

    @transaction
    def unfinished(self, session: Session) -> Sequence[RunName]:
        over = [state for state in RunState if state.is_over]
        return session.scalars(select(RunRow.run).where(RunRow.state.not_in(over))).all()

    @transaction
    def has_model(self, session: Session, run: RunName) -> bool:
        return the_run(session, run).has_model

    @transaction
    def record_model(self, session: Session, run: RunName, now: float) -> bool:
        """Whether it is the first time."""
        row = the_run(session, run)
        if row.has_model:
            return False
        row.has_model = True
        record(session, run, now, InitialModelStored())
        return True

    @transaction
    def add_epoch(
        self, session: Session, run: RunName, epoch: EpochNumber, text: str, now: float
    ) -> bool:
        """Whether it is new; epochs only go up."""
        known = session.get(EpochRow, (run, epoch))
        if known is not None and known.record == text:
            return False
        newest = newest_epoch(session, run)
        if epoch <= newest:
            raise ConflictError(
                f"run {run} has reached key epoch {newest}", "put a newer epoch, or the same record"
            )
        put_epoch_beside(session, run, epoch, text, now)
        return True

    @transaction
    def epoch(self, session: Session, run: RunName, epoch: EpochNumber) -> str:
        """Its signed record."""
        row = session.get(EpochRow, (run, epoch))
        if row is None:
            raise UnknownResourceError(f"run {run} has no key epoch {epoch}", "put its record")
        return row.record

    @transaction
    def epochs(self, session: Session, run: RunName) -> tuple[KeyEpoch, ...]:
        rows = select(EpochRow).where(EpochRow.run == run).order_by(EpochRow.epoch)
        return tuple(KeyEpoch(record=row.record) for row in session.scalars(rows))

    @transaction
    def stop(self, session: Session, run: RunName, now: float) -> None:
        """A run that is over or stopped stays as it is: no round opens in any case."""
        row = the_run(session, run)
        if row.state is RunState.STOPPED or row.state.is_over:
            return
        row.state, row.reason = RunState.STOPPED, "stopped by the operator"
        record(session, run, now, RunStopped())

    @transaction
    def resume(self, session: Session, run: RunName, now: float) -> None:
        row = the_run(session, run)
        if row.state.is_over:
            raise ConflictError(f"run {run} is {row.state}", "create a new run")
        if row.state is RunState.STOPPED:
            row.state, row.reason = _under_way(session, run), ""
            record(session, run, now, RunResumed())


def _under_way(session: Session, run: RunName) -> RunState:
    newest = newest_round(session, run)
    return RunState.RUNNING if newest is not None and newest.phase else RunState.WAITING


def _refuse_another(known: RunRow, document: FrozenDocument) -> None:
    if known.document != document.octets:
        raise ConflictError(
            f"run {known.run} exists with another document", "choose another name for the run"
        )


def _status(session: Session, row: RunRow) -> RunStatus:
    newest = newest_round(session, row.run)
    joined = select(func.count()).where(
        ParticipantRow.run == row.run, ParticipantRow.excluded.is_(False)
    )
    return RunStatus(
        run=row.run,
        document=row.sha256,
        state=row.state,
        reason=row.reason,
        round=newest.number if newest is not None else NO_ROUND,
        rounds=row.rounds,
        epoch=newest_epoch(session, row.run),
        participants=session.scalar(joined) or 0,
        created_at=row.created_at,
    )
