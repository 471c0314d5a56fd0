"""Sealed checkpoints: who vouches for which, and the newest whose octets are here."""

from sqlalchemy import ColumnElement, and_, delete, func, select
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.wire.aggregator import CheckpointOffer, RoundState, SignedCheckpoint, SubmissionState
from fedperm.wire.statements import UPDATE_KIND
from fedperm_aggregator.records import SealedCheckpoint, Vouching
from fedperm_aggregator.stores.lookup import the_round
from fedperm_aggregator.tables import CheckpointRow, CheckpointStatementRow, SubmissionRow


class CheckpointStore:
    """Of a run only the newest is kept, and of each client what it has said of that one and of the
    newest round."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def vouch(self, session: Session, vouching: Vouching) -> bool:
        """Whether the octets are wanted. What a client says last counts: it seals anew when the key
        has another epoch. Whoever did not contribute to the round, or is behind, is not heard."""
        said, offered = vouching.checkpoint, session.get(CheckpointRow, vouching.checkpoint.run)
        if the_round(session, said.run, said.round).state is not RoundState.PUBLISHED:
            raise ConflictError(f"round {said.round} is not published", "wait until it is")
        if vouching.client not in _contributors(session, said):
            return False
        if offered is not None and _age(_record(offered)) > _age(said):
            return False
        session.merge(
            CheckpointStatementRow(
                client=vouching.client,
                statement=vouching.statement,
                certificate=vouching.certificate,
                **vars(said),
            )
        )
        _forget_before(session, said, offered)
        session.flush()
        return _is_wanted(session, said)

    @transaction
    def wanted(
        self, session: Session, run: RunName, number: RoundNumber, client: ClientName
    ) -> SealedCheckpoint | None:
        """What the client has vouched for, if its octets are wanted."""
        row = session.get(CheckpointStatementRow, (run, client, number))
        if row is None:
            return None
        said = _record(row)
        return said if _is_wanted(session, said) else None

    @transaction
    def keep(self, session: Session, kept: SealedCheckpoint) -> SealedCheckpoint | None:
        """It is on offer from here on, unless a newer one came first. Of which one the octets are
        not needed any more: the one before, or this one."""
        before = session.get(CheckpointRow, kept.run)
        if before is not None and _age(_record(before)) > _age(kept):
            return kept
        former = None if before is None or _record(before) == kept else _record(before)
        row = session.merge(CheckpointRow(**vars(kept)))
        _forget_before(session, kept, row)
        return former

    @transaction
    def offer(self, session: Session, run: RunName) -> CheckpointOffer | None:
        """With as many statements as it needs; None while there are not so many, as when clients
        begin to seal for another epoch."""
        row = session.get(CheckpointRow, run)
        if row is None:
            return None
        kept = _record(row)
        needed = len(_contributors(session, kept)) // 2 + 1
        vouching = select(CheckpointStatementRow).where(_is_for(kept))
        rows = session.scalars(vouching.order_by(CheckpointStatementRow.client).limit(needed)).all()
        if len(rows) < needed:
            return None
        return CheckpointOffer(
            round=kept.round,
            epoch=kept.epoch,
            lineage=kept.lineage,
            sha256=kept.sha256,
            size=kept.size,
            signed=tuple(
                SignedCheckpoint(statement=one.statement, certificate=one.certificate)
                for one in rows
            ),
        )

    @transaction
    def offered(self, session: Session, run: RunName) -> SealedCheckpoint | None:
        """Whose octets must lie on the disk."""
        row = session.get(CheckpointRow, run)
        return None if row is None else _record(row)


def _record(row: CheckpointRow | CheckpointStatementRow) -> SealedCheckpoint:
    return SealedCheckpoint(row.run, row.round, row.epoch, row.lineage, row.sha256, row.size)


def _age(checkpoint: SealedCheckpoint) -> tuple[int, int]:
    return checkpoint.round, checkpoint.epoch


def _is_for(checkpoint: SealedCheckpoint) -> ColumnElement[bool]:
    table = CheckpointStatementRow
    return and_(*(getattr(table, name) == value for name, value in vars(checkpoint).items()))


def _contributors(session: Session, checkpoint: SealedCheckpoint) -> set[ClientName]:
    included = select(SubmissionRow.client).where(
        SubmissionRow.run == checkpoint.run,
        SubmissionRow.round == checkpoint.round,
        SubmissionRow.kind == UPDATE_KIND,
        SubmissionRow.state == SubmissionState.INCLUDED,
    )
    return set(session.scalars(included))


def _is_wanted(session: Session, checkpoint: SealedCheckpoint) -> bool:
    """More than half have signed the same, so at most one digest of a round and epoch is ever
    wanted: nobody can fill the disk with others."""
    offered = session.get(CheckpointRow, checkpoint.run)
    if offered is not None and _age(_record(offered)) >= _age(checkpoint):
        return False
    count = session.scalar(
        select(func.count()).select_from(CheckpointStatementRow).where(_is_for(checkpoint))
    )
    return 2 * (count or 0) > len(_contributors(session, checkpoint))


def _forget_before(
    session: Session, newest: SealedCheckpoint, offered: CheckpointRow | None
) -> None:
    table = CheckpointStatementRow
    older = and_(table.run == newest.run, table.round < newest.round)
    if offered is not None:
        older = and_(older, table.round != offered.round)
    session.execute(delete(table).where(older))
