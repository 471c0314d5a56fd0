"""How many connections are held, and for how long while nothing sensible comes: uvicorn takes every
connection, and waits for the head of a request for ever."""

import asyncio
import logging
import resource
import secrets
from dataclasses import dataclass
from enum import Enum

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fedperm.errors import BusyError
from fedperm.web.problems import problem_response, retry_after
from fedperm.wire.problem import kind_of

log = logging.getLogger(__name__)

OWN_FILES = 256
"""Descriptors for everything but connections and the files that uploads arrive in."""
REFUSED_SECONDS = 2.0
"""Whoever is to be told that there are too many has so long to ask."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Beyond `most` a connection is told so, and far beyond it is cut off. `left_over_seconds` are
    for the rest of a body that was refused: an honest sender looks for the answer only after it."""

    most: int = 2500
    head_seconds: float = 20.0
    left_over_seconds: float = 60.0

    @property
    def most_answered(self) -> int:
        return self.most + self.most // 4 + 1


class _Owed(Enum):
    """What a peer has to send now."""

    NOTHING = 0
    HEAD = 1
    LEFT_OVER = 2


class GuardedProtocol(H11Protocol):
    limits = ConnectionLimits()
    _owed = _Owed.NOTHING
    _timer: asyncio.TimerHandle | None = None
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        crowd = len(self.connections)
        self._is_refused = crowd > self.limits.most
        if crowd > self.limits.most_answered:
            transport.abort()
        elif self._is_refused:
            self.app = turned_away
            self._wait(REFUSED_SECONDS)
        else:
            self._mind()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._mind()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._mind()

    def send_400_response(self, msg: str) -> None:
        """The request was none after all: its answer, if one has begun, ends here, and the
        application has nobody left to answer. uvicorn would stumble over either."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _mind(self) -> None:
        """The time runs from when something was owed first: octets one by one win nothing."""
        owed = self._now_owed()
        if owed is self._owed or self._is_refused:
            return
        self._owed = owed
        self._forget()
        if owed is _Owed.HEAD:
            self._wait(self.limits.head_seconds)
        elif owed is _Owed.LEFT_OVER:
            self._wait(self.limits.left_over_seconds)

    def _now_owed(self) -> _Owed:
        """A body that somebody reads has a pace of its own; between two requests uvicorn waits."""
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            return _Owed.HEAD
        is_answered = self.cycle is not None and self.cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY and is_answered:
            return _Owed.LEFT_OVER
        return _Owed.NOTHING

    def _wait(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def guarded(limits: ConnectionLimits) -> type[GuardedProtocol]:
    """The protocol with these limits, and with no more connections than there are descriptors."""
    afforded = _afforded(limits)

    class Guarded(GuardedProtocol):
        limits = afforded

    return Guarded


async def turned_away(scope: Scope, receive: Receive, send: Send) -> None:
    """The application of a connection too many."""
    error = BusyError("too many connections", "try again soon")
    identifier = secrets.token_hex(8)
    problem = kind_of(error).problem(error.message, error.hint, identifier)
    headers = {"X-Request-ID": identifier, "Connection": "close", **retry_after()}
    await problem_response(problem, headers)(scope, receive, send)


def _afforded(limits: ConnectionLimits) -> ConnectionLimits:
    """A connection may need two descriptors. The system gives more to whoever asks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * limits.most_answered + OWN_FILES
    if soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft >= needed:
        return limits
    most = max(1, (soft - OWN_FILES) * 2 // 5)
    log.warning("only %d connections: %d descriptors (ulimit -n)", most, soft)
    return ConnectionLimits(most, limits.head_seconds, limits.left_over_seconds)
