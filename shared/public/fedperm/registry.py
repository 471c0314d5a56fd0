"""Parts that a document or a setting names: one registry for each kind, so one list of names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from fedperm.errors import ParameterError, SettingsError

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """`kind` is what a part is called in errors. Reserved names are known and not built: each has
    the reason that whoever asks for it is told."""

    def __init__(
        self, kind: str, parts: Mapping[str, Part], reserved: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.reserved = dict(reserved or {})
        self._parts = dict(parts)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._parts)

    def values(self) -> tuple[Part, ...]:
        return tuple(self._parts.values())

    def __getitem__(self, name: str) -> Part:
        if name in self._parts:
            return self._parts[name]
        if name in self.reserved:
            raise ParameterError(
                f"{self.kind} {name} is not available: {self.reserved[name]}", self._choice
            )
        raise ParameterError(f"there is no {self.kind} {name!r}", self._choice)

    def register(self, name: str, part: Part) -> None:
        if name in self._parts or name in self.reserved:
            raise ParameterError(f"there is a {self.kind} {name} already", "choose another name")
        self._parts[name] = part

    @contextmanager
    def registered(self, name: str, part: Part) -> Iterator[None]:
        """Known while the block lasts."""
        self.register(name, part)
        try:
            yield
        finally:
            del self._parts[name]

    @property
    def _choice(self) -> str:
        return f"choose one of: {', '.join(self._parts)}"


class UrlRegistry(Registry[Part]):
    """Parts that a setting chooses by the scheme of a URL, as in `file://`."""

    def of_url(self, url: str) -> Part:
        """The URL itself may hold a password, so the error does not repeat it."""
        scheme = urlsplit(url).scheme
        if scheme not in self.names:
            known = ", ".join(f"{name}://" for name in sorted(self.names))
            raise SettingsError(f"there is no {self.kind} for {scheme}://", f"use one of: {known}")
        return self[scheme]
