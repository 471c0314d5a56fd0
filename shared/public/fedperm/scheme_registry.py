"""Implementations that are chosen by the scheme of a URL."""

from collections.abc import Mapping
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from fedperm.errors import SettingsError

Entry = TypeVar("Entry")


class SchemeRegistry(Generic[Entry]):
    """`what` names the implementations in errors, as in "blob store"."""

    def __init__(self, what: str, entries: Mapping[str, Entry]) -> None:
        self._what = what
        self._entries = dict(entries)

    def register(self, scheme: str, entry: Entry) -> None:
        """For this process: worker processes know the entries that their imports register."""
        self._entries[scheme] = entry

    def find(self, url: str) -> Entry:
        """The URL itself may hold a password, so the error does not repeat it."""
        scheme = urlsplit(url).scheme
        if scheme not in self._entries:
            known = ", ".join(f"{name}://" for name in sorted(self._entries))
            raise SettingsError(f"there is no {self._what} for {scheme}://", f"use one of: {known}")
        return self._entries[scheme]
