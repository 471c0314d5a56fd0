"""Who asks, and from where: what the audit log says beside each event.

Routes say it once they know it (`asked_by`), as the request's id is said; whatever is appended to
the log meanwhile carries it. What happens without a request is the key server's own doing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

KEY_SERVER = "key-server"
KEY_OPERATOR = "key-operator"
CLIENT = "client"
"""Enrolled; the event's details name it."""
NEWCOMER = "newcomer"
"""Nobody yet: whoever shows an enrolment token."""


@dataclass(frozen=True)
class Origin:
    actor: str
    address: str | None = None


_origin: ContextVar[Origin] = ContextVar("origin", default=Origin(KEY_SERVER))  # noqa: B039 (frozen)


@contextmanager
def asked_by(origin: Origin) -> Iterator[None]:
    outer = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(outer)


def present_origin() -> Origin:
    return _origin.get()
