"""Whether a transaction wrote something: one that only reads is no step that persists."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

_WRITE = re.compile(r"\s*(?:INSERT|UPDATE|DELETE)\b")

_STORES_OF_FILES = {"FileBlobStore", "ModelStore"}

_here = threading.local()


@contextmanager
def observing_writes() -> Iterator[None]:
    """In all databases of this process."""
    listeners = {"begin": _begin, "before_cursor_execute": _execute}
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)


def persists(moment: str) -> bool:
    """Whether this moment, which the current thread is passing, is of a step that writes."""
    owner = moment.split(".", maxsplit=1)[0]
    is_transaction = owner.endswith("Store") and owner not in _STORES_OF_FILES
    return not is_transaction or getattr(_here, "has_written", False)


def _begin(_connection: Any) -> None:
    _here.has_written = False


def _execute(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
    if _WRITE.match(statement):
        _here.has_written = True
