"""Who takes part in a run."""

from collections.abc import Iterable

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from fedperm.database import Database, transaction
from fedperm.errors import ConflictError, ForbiddenError
from fedperm.ids import ClientName, RunName
from fedperm.wire.events import ParticipantExcluded, ParticipantJoined
from fedperm_aggregator.records import Joined, Sighting
from fedperm_aggregator.stores.events import record
from fedperm_aggregator.stores.lookup import the_participant
from fedperm_aggregator.tables import ParticipantRow

_SEE = (
    update(ParticipantRow)
    .where(ParticipantRow.run == bindparam("of"), ParticipantRow.client == bindparam("who"))
    .values(last_seen_at=bindparam("at"))
)


class ParticipantStore:
    """Remembers whom it has found: a participant's row changes once, when it is excluded. Every
    heartbeat and every poll asks for one, and this process is the only one that writes them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._found: dict[tuple[RunName, ClientName], Joined] = {}

    @transaction
    def join(
        self, session: Session, run: RunName, client: ClientName, signing_key: str, now: float
    ) -> tuple[Joined, bool]:
        """The participant, and whether it is new."""
        known = session.get(ParticipantRow, (run, client))
        if known is not None:
            _refuse_excluded_or_other(known, signing_key)
            return _joined(known), False
        row = ParticipantRow(
            run=run,
            client=client,
            signing_key=signing_key,
            joined_at=now,
            last_seen_at=now,
            excluded=False,
        )
        session.add(row)
        record(session, run, now, ParticipantJoined(), client=client)
        return _joined(row), True

    @transaction
    def exclude(self, session: Session, run: RunName, client: ClientName, now: float) -> Joined:
        self._found.pop((run, client), None)
        row = the_participant(session, run, client)
        if not row.excluded:
            row.excluded = True
            record(session, run, now, ParticipantExcluded(), client=client)
        return _joined(row)

    @transaction
    def find(self, session: Session, run: RunName, client: ClientName) -> Joined:
        """Kept inside the transaction: one that excludes comes before it, or forgets it again."""
        found = self._found[run, client] = _joined(the_participant(session, run, client))
        return found

    def remembered(self, run: RunName, client: ClientName) -> Joined | None:
        """What `find` would say, if it was asked before; no database is."""
        return self._found.get((run, client))

    @transaction
    def of_run(self, session: Session, run: RunName) -> tuple[Joined, ...]:
        rows = select(ParticipantRow).where(ParticipantRow.run == run)
        return tuple(map(_joined, session.scalars(rows.order_by(ParticipantRow.client))))

    @transaction
    def sightings(self, session: Session) -> list[Sighting]:
        rows = session.scalars(select(ParticipantRow))
        return [Sighting(row.run, row.client, row.last_seen_at) for row in rows]

    @transaction
    def save(self, session: Session, sightings: Iterable[Sighting]) -> None:
        """Of those who have joined. One statement for all: hundreds of rows, every few seconds."""
        seen = [{"of": s.run, "who": s.client, "at": s.at} for s in sightings]
        if seen:
            session.connection().execute(_SEE, seen)


def _refuse_excluded_or_other(known: ParticipantRow, signing_key: str) -> None:
    if known.excluded:
        raise ForbiddenError(
            f"{known.client} is excluded from run {known.run}", "ask the run's operator"
        )
    if known.signing_key != signing_key:
        raise ConflictError(
            f"{known.client} has joined run {known.run} with another signing key",
            "use the identity that joined, or join under another name",
        )


def _joined(row: ParticipantRow) -> Joined:
    return Joined(row.client, row.signing_key, row.joined_at, row.excluded)
