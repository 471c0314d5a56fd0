"""Marks: rows that decide who gets a secret key carry a MAC under a key outside the database.

It is over the row's table and all its columns: whoever can only write into the database makes no
row, changes none and puts none in another's place. A column that is null is left out, so that a
revision may add one and the marks of older rows still hold.

A mark says who wrote a row, not that it is the newest version of it: that is the register's part
(`stores.guard`).
"""

import hmac
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from sqlalchemy import event, inspect
from sqlalchemy.orm import Mapped, Mapper

from fedperm.audit_register import Register
from fedperm.errors import SettingsError

_LABEL = "fedperm/3 row"
INTEGRITY_KEY_OCTETS = 32


class Marked:
    """A row with a mark; tables inherit it."""

    mac: Mapped[bytes | None]

    def agrees_with(self, register: Register) -> bool:
        """Whether the audit log says the same: an older version of a row is marked as well."""
        raise NotImplementedError

    @property
    def place(self) -> tuple[str, str]:
        """Its table, and its primary key in words."""
        mapper = _mapper(self)
        return str(mapper.local_table), "/".join(map(str, mapper.primary_key_from_instance(self)))


@event.listens_for(Marked, "before_insert", propagate=True)
@event.listens_for(Marked, "before_update", propagate=True)
def _check_is_marked(_mapper: object, _connection: object, row: Marked) -> None:
    """Without a guard on the database nothing is written that would not be believed later."""
    if row.mac is None:
        raise RuntimeError("a row without a mark")


class IntegrityKey:
    """Marks rows. Shows nothing when printed, cannot be pickled or copied."""

    __slots__ = ("_octets",)

    def __init__(self, octets: bytes) -> None:
        if len(octets) != INTEGRITY_KEY_OCTETS:
            raise SettingsError(
                f"an integrity key of {len(octets)} octets", f"use {INTEGRITY_KEY_OCTETS}"
            )
        self._octets = octets

    def mark(self, row: Marked) -> bytes:
        return hmac.digest(self._octets, _statement(row), "sha256")

    def has_marked(self, row: Marked) -> bool:
        return row.mac is not None and hmac.compare_digest(row.mac, self.mark(row))

    def __repr__(self) -> str:
        return "<IntegrityKey>"

    def __getstate__(self) -> NoReturn:
        raise TypeError("an integrity key cannot be pickled or copied")

    __reduce__ = __getstate__


def _statement(row: Marked) -> bytes:
    mapper = _mapper(row)
    members = {
        column.key: _written(getattr(row, column.key), column.columns[0].type.python_type)
        for column in mapper.column_attrs
        if column.key != "mac" and getattr(row, column.key) is not None
    }
    return _as_json([_LABEL, str(mapper.local_table), members])


def _written(value: Any, kind: type) -> Any:
    """As it comes back from the database: a whole number in a column of floats is a float."""
    if kind is bytes:
        return bytes(value).hex()
    return float(value) if kind is float else value


def _as_json(statement: list[str | Mapping[str, Any]]) -> bytes:
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def _mapper(row: Marked) -> Mapper[Any]:
    mapper: Mapper[Any] = inspect(type(row))
    return mapper
