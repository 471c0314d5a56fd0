"""The guard of the database: no row is believed that this key server has not written, or has
written and then changed.

It sits on every session. At the start of a transaction it reads the audit log on from where it was:
each entry must be marked, follow the one before and make sense (`fedperm.audit_register`). A row
that is loaded must be marked and say what the register says, so that an older version of it, which
is marked as well, is noticed. What is written is marked on its way, and no entry is appended that
the log so far contradicts. What a transaction has appended is held against the log from its commit
on: were it read back later, whoever is quicker could take it away unnoticed.

The log is read in full at the start of a process, and from memory afterwards; several processes may
share a database, for all of them follow the same log. What it cannot notice is a whole database put
back as it was: that is for those who keep signed heads of the log.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from sqlalchemy import Connection, RowMapping, event, select
from sqlalchemy.orm import Session, SessionTransaction, UOWTransaction

from fedperm.audit_chain import START, ChainEnd, verify_chain
from fedperm.audit_register import Register
from fedperm.database import Database, transaction
from fedperm.errors import SealedError, TamperedError, UntrustedError
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.marks import IntegrityKey, Marked
from fedperm_keyserver.tables import AuditRow, Base, IdentityRow, IntegrityKeyRow

_ONLY = 1
_AT_ONCE = 1000
"""Rows in memory while a whole table is read."""

LOG = AuditRow.__tablename__


def tampered(table: str, row: str, why: str) -> TamperedError:
    return TamperedError(
        "what this key server has stored was changed by somebody else",
        "ask the key operator: the key server's log and `fedperm keys audit` say more",
        table=table,
        row=row,
        why=why,
    )


def changed_while_running() -> SealedError:
    return SealedError(
        "the key-encryption key of this database was changed while this server ran",
        "start the server again, with the new one",
    )


@dataclass(frozen=True)
class Marks:
    """The key of the marks, and the same as it is stored."""

    wrapped: bytes
    key: IntegrityKey


@dataclass
class _Log:
    """As far as it was followed."""

    end: ChainEnd = START
    register: Register = field(default_factory=Register)

    def take(self, entry: AuditEntry) -> None:
        try:
            end = verify_chain([entry], self.end)
            self.register.take(entry)
        except UntrustedError as error:
            raise tampered(LOG, str(entry.number), error.message) from None
        self.end = end

    def draft(self) -> "_Log":
        return _Log(self.end, self.register.draft())


class Guard:
    """Of one process. It needs no lock: transactions happen one at a time (`fedperm.engines`)."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._next_marks: Marks | None = None
        self._log = _Log()
        self._draft: _Log | None = None
        self._trouble: TamperedError | SealedError | None = None

    def check_newest(self, identity: str) -> None:
        """Its fingerprint, as it was just loaded: rows can also be taken away."""
        if identity != self._log.register.newest_identity:
            raise tampered(IdentityRow.__tablename__, identity, "it is not the newest identity")

    def renew(self, session: Session, marks: Marks) -> None:
        """All rows, which are checked when they are loaded, are marked with another key: whoever
        has the one before marks nothing that is believed. Within a transaction, at its end: it
        loads no row afterwards."""
        session.get_one(IntegrityKeyRow, _ONLY).wrapped = marks.wrapped
        self._next_marks = marks
        _mark_what_is_there(session, marks.key)

    def watch(self, database: Database) -> None:
        event.listen(database.sessions, "after_commit", self._adopt)
        event.listen(database.sessions, "after_begin", self._read_on)
        event.listen(database.sessions, "loaded_as_persistent", self._check)
        event.listen(database.sessions, "before_flush", self._mark_all)

    def _read_on(
        self, _session: Session, _transaction: SessionTransaction, connection: Connection
    ) -> None:
        """Trouble is told to whoever loads a row that decides: the log itself can still be read."""
        self._draft = self._next_marks = None
        try:
            self._check_marks_are_made_alike(connection)
            self._follow(connection)
        except (TamperedError, SealedError) as error:
            self._trouble = error
        else:
            self._trouble = None

    def _check_marks_are_made_alike(self, connection: Connection) -> None:
        """Another process may have changed the key-encryption key, and this one with it."""
        wrapped = connection.scalar(select(IntegrityKeyRow.wrapped))
        if wrapped is None:
            raise tampered(
                IntegrityKeyRow.__tablename__, str(_ONLY), "it was there, and is no more"
            )
        if wrapped != self._marks.wrapped:
            raise changed_while_running()

    def _follow(self, connection: Connection) -> None:
        rows = self._since(connection, self._log.end.number)
        if self._log.end != START:
            self._check_end(rows[0] if rows else None)
            rows = rows[1:]
        while rows:
            for row in rows:
                entry = AuditRow(**row)
                self._check_mark(entry)
                self._log.take(entry.entry())
            rows = self._since(connection, self._log.end.number + 1)

    def _since(self, connection: Connection, first: int) -> Sequence[RowMapping]:
        """Those that follow, a page of them: a whole log may not fit into memory."""
        entries = AuditRow.__table__
        found = select(entries).where(entries.c.number >= first).order_by(entries.c.number)
        return connection.execute(found.limit(_AT_ONCE)).mappings().all()

    def _check_end(self, row: RowMapping | None) -> None:
        if row is None or ChainEnd(row["number"], row["hash"]) != self._log.end:
            raise tampered(LOG, str(self._log.end.number), "it was there, and is no more")

    def _adopt(self, _session: Session) -> None:
        self._log = self._draft or self._log
        self._marks = self._next_marks or self._marks

    def _check(self, _session: Session, row: object) -> None:
        if not isinstance(row, Marked):
            return
        if self._trouble is not None:
            raise copy(self._trouble)
        self._check_mark(row)
        if not row.agrees_with((self._draft or self._log).register):
            raise tampered(*row.place, "the audit log says otherwise")

    def _check_mark(self, row: Marked) -> None:
        if not self._marks.key.has_marked(row):
            raise tampered(*row.place, "it does not carry this key server's mark")

    def _mark_all(
        self, session: Session, _flush: UOWTransaction, _instances: object | None
    ) -> None:
        changed = [row for row in session.dirty if session.is_modified(row)]
        rows = [row for row in (*session.new, *changed) if isinstance(row, Marked)]
        entries = [row for row in session.new if isinstance(row, AuditRow)]
        for entry in sorted(entries, key=lambda row: row.number):
            self._expect(entry)
        for row in rows:
            row.mac = (self._next_marks or self._marks).key.mark(row)

    def _expect(self, entry: AuditRow) -> None:
        """An entry that would break the log tells of a row that is missing, or is one too many."""
        self._draft = self._draft or self._log.draft()
        self._draft.take(entry.entry())


class IntegrityStore:
    """The key of the marks, wrapped: it is made once."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @transaction
    def find(self, session: Session) -> bytes | None:
        row = session.get(IntegrityKeyRow, _ONLY)
        return row.wrapped if row else None

    @transaction
    def keep(self, session: Session, marks: Marks, identity: bytes | None) -> bytes:
        """The one that is kept: another process may have been first. `identity` is the signing key
        wrapped anew, which shows from now on that rows are marked; those of an older version are
        marked with it, as they are."""
        row = session.get(IntegrityKeyRow, _ONLY)
        if row is not None:
            return row.wrapped
        session.add(IntegrityKeyRow(id=_ONLY, wrapped=marks.wrapped))
        if identity is not None:
            newest = session.get_one(IdentityRow, _ONLY)
            newest.wrapped = identity
            newest.mac = marks.key.mark(newest)  # at once: the next query flushes it
            _mark_what_is_there(session, marks.key)
        return marks.wrapped


def _mark_what_is_there(session: Session, key: IntegrityKey) -> None:
    for mapper in Base.registry.mappers:
        if issubclass(mapper.class_, Marked):
            for rows in session.scalars(select(mapper.class_)).partitions(_AT_ONCE):
                for row in rows:
                    row.mac = key.mark(row)
                session.flush()
