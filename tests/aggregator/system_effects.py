"""What reaches the disk, the database and the network, in the order in which it does.

Tests look over the shoulder of the operating system: everything is done as ever, and noted.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CHANCE = re.compile(r"\.[0-9a-f]{32}(?=\.new$)")
_WRITE = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")


@dataclass(frozen=True)
class Effect:
    """`where` is a path, the tables that a transaction wrote to, or an answer's status. `octets`
    are those of a file that is synced: what was not handed to the system is not made durable.
    `origin` is the old name of a file that is renamed."""

    what: str
    where: Path | str
    octets: int | None = None
    origin: Path | None = None


def synced(path: Path, octets: int | None = None) -> Effect:
    return Effect("fsync", path, octets)


def renamed(origin: Path, path: Path) -> Effect:
    return Effect("rename", path, origin=origin)


def removed(path: Path) -> Effect:
    return Effect("unlink", path)


def committed(*tables: str) -> Effect:
    return Effect("commit", " ".join(tables))


def answered(status: int) -> Effect:
    return Effect("answer", str(status))


@contextmanager
def files_observed(seen: list[Effect]) -> Iterator[None]:
    """An effect is noted when the call has succeeded."""
    with pytest.MonkeyPatch.context() as patch:
        for call, note in _CALLS.items():
            patch.setattr(os, call, partial(_noted, getattr(os, call), note, seen))
        yield


@contextmanager
def commits_observed(engine: Engine, seen: list[Effect]) -> Iterator[None]:
    """Of transactions that wrote something, by the tables' names."""

    def collect(connection: Connection, _cursor: Any, statement: str, *_rest: Any) -> None:
        connection.info.setdefault("written", set()).update(_WRITE.findall(statement))

    def forget(connection: Connection) -> None:
        connection.info.pop("written", None)

    def note(connection: Connection) -> None:
        if tables := connection.info.pop("written", None):
            seen.append(committed(*sorted(tables)))

    listeners = {"before_cursor_execute": collect, "rollback": forget, "commit": note}
    for name, listener in listeners.items():
        event.listen(engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners.items():
            event.remove(engine, name, listener)


def answers_observed(app: ASGIApp, seen: list[Effect]) -> ASGIApp:
    """The same service; an answer is noted when its first octet could leave."""

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.append(answered(message["status"]))
            await send(message)

        await app(scope, receive, sending)

    return observed


def _noted(
    call: Callable[..., Any], note: Callable[..., Effect], seen: list[Effect], *args: Any, **kw: Any
) -> Any:
    result = call(*args, **kw)
    seen.append(note(*args))
    return result


def _foreseeable(path: Any) -> Path:
    """What is not finished has a name that is part chance."""
    return Path(_CHANCE.sub("", str(path)))


def _sync(descriptor: int) -> Effect:
    status = os.fstat(descriptor)
    path = Path(f"/proc/self/fd/{descriptor}").readlink()
    return synced(_foreseeable(path), status.st_size if S_ISREG(status.st_mode) else None)


def _rename(origin: Any, path: Any) -> Effect:
    return renamed(_foreseeable(origin), Path(path))


def _unlink(path: Any, *_rest: Any) -> Effect:
    return removed(Path(path))


def _mkdir(path: Any, *_rest: Any) -> Effect:
    return Effect("mkdir", Path(path))


_CALLS: dict[str, Callable[..., Effect]] = {
    "fsync": _sync,
    "rename": _rename,
    "replace": _rename,
    "unlink": _unlink,
    "remove": _unlink,
    "mkdir": _mkdir,
}
