"""What whoever can write into the key server's database can do there: anything but make marks."""

from typing import Any

from sqlalchemy import MetaData, create_engine, delete, insert, select, text, update
from sqlalchemy.engine import RowMapping

from fedperm.audit_chain import START, ChainEnd, next_entry
from fedperm.wire.key_server import AuditEntry
from fedperm.wire.public_keys import text_of
from tests.keyserver.member import Member

Row = dict[str, Any]
TOKEN = "f" * 16


class DatabaseWriter:
    """Knows the tables, and rows as they were when it looked."""

    def __init__(self, url: str) -> None:
        self.engine = create_engine(url)
        self.look_again()

    def look_again(self) -> None:
        metadata = MetaData()
        metadata.reflect(self.engine)
        self._tables = metadata.tables

    def row(self, table: str, **where: Any) -> RowMapping:
        with self.engine.begin() as connection:
            found = connection.execute(select(self._tables[table]).filter_by(**where))
            return found.mappings().one()

    def rows(self, table: str) -> list[Row]:
        with self.engine.begin() as connection:
            return [dict(row) for row in connection.execute(select(self._tables[table])).mappings()]

    def restore(self, table: str, rows: list[Row]) -> None:
        """Rows as they were; those that came since are removed."""
        keys = [column.name for column in self._tables[table].primary_key]
        kept = [{key: row[key] for key in keys} for row in rows]
        for row in self.rows(table):
            place = {key: row[key] for key in keys}
            if place in kept:
                self.change(table, rows[kept.index(place)], **place)
            else:
                self.delete(table, **place)

    def execute(self, statement: str) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement))

    def put(self, table: str, row: Row | RowMapping) -> None:
        """Columns that tables of older versions lack are left out."""
        known = {name: row[name] for name in row if name in self._tables[table].c}
        with self.engine.begin() as connection:
            connection.execute(insert(self._tables[table]).values(known))

    def change(self, table: str, row: Row | RowMapping, **where: Any) -> None:
        changing = update(self._tables[table]).filter_by(**where).values(dict(row))
        with self.engine.begin() as connection:
            assert connection.execute(changing).rowcount == 1

    def delete(self, table: str, **where: Any) -> None:
        with self.engine.begin() as connection:
            deleting = delete(self._tables[table])
            for name, value in where.items():
                deleting = deleting.where(self._tables[table].c[name] == value)
            assert connection.execute(deleting).rowcount > 0

    def entries(self) -> list[AuditEntry]:
        table = self._tables["audit_entries"]
        columns = [table.c[name] for name in AuditEntry.model_fields if name in table.c]
        with self.engine.begin() as connection:
            found = connection.execute(select(*columns).order_by(table.c.number)).mappings().all()
        return [AuditEntry(**row) for row in found]

    def rewrite_log(self, entries: list[AuditEntry]) -> None:
        """Chained anew. An entry that is where it was keeps its mark, others get one of those."""
        marks = [self.row("audit_entries", number=e.number).get("mac") for e in self.entries()]
        self.delete("audit_entries")
        end = START
        for place, entry in enumerate(entries):
            origin = {"actor": entry.actor, "address": entry.address}
            forged = next_entry(end, entry.at, entry.event, entry.details, **origin)
            end = ChainEnd(forged.number, forged.hash)
            mark = marks[place % len(marks)]
            self.put("audit_entries", {**forged.model_dump(), **origin, "mac": mark})

    def enrol(self, member: Member, like: RowMapping) -> None:
        """By rows alone, with the marks of others."""
        member.name = "mallory"
        keys = {
            "signing_key": text_of(member.signing.public_key()),
            "sealing_key": text_of(member.sealing.public_key()),
        }
        token = self.row("enrolment_tokens", id=like["token"])
        self.put("enrolment_tokens", {**token, "id": TOKEN, "client": None})
        place = {"name": member.name, "ordinal": like["ordinal"] + 1, "token": TOKEN}
        self.put("clients", {**like, **place, **keys})

    def entries_that_enrol(self, member: Member, after: list[AuditEntry]) -> list[AuditEntry]:
        """As the key server would have written them."""
        row = self.row("clients", name=member.name)
        names = ("key", "ordinal", "signing_key", "sealing_key")
        minted = {"key": row["key"], "token": TOKEN, "uses": 1, "client": None}
        enrolled = {n: row[n] for n in names} | {"client": member.name, "token": TOKEN}
        at, chain = after[-1].at, list(after)
        for event, details in (("token-minted", minted), ("client-enrolled", enrolled)):
            end = ChainEnd(chain[-1].number, chain[-1].hash)
            chain.append(next_entry(end, at, event, details, actor=after[-1].actor))
        return chain
