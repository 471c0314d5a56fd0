"""Parts that a document or a setting names: one registry for each kind, so one list of names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

from fedperm.errors import ParameterError

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
