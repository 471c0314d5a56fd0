"""How many connections are held, and for how long while nothing sensible comes or nothing is taken:
uvicorn takes every connection, waits for the head of a request for ever, and for ever for a peer
that does not read its answer."""

import asyncio
import logging
import resource
import secrets
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import h11
from fastapi import Request
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fedperm.errors import BusyError
from fedperm.web.problems import problem_response, retry_after
from fedperm.web.proxies import NO_PROXIES, TrustedProxies
from fedperm.wire.problem import kind_of

log = logging.getLogger(__name__)

OWN_FILES = 256
"""Descriptors for everything but connections and the files that uploads arrive in."""
REFUSED_SECONDS = 2.0
"""Whoever is to be told that there are too many has so long to ask."""
UNREAD_OCTETS = 1
"""With one octet that the kernel does not take, a peer is behind: the time runs from here. (With 0
TLS transports would take an empty buffer for a full one.)"""

READ_PER_SECOND = 1 << 13
"""Octets. A peer that takes an answer more slowly holds a connection for little use."""

_VOUCH = "fedperm.vouch"
"""In the state of a request: what tells its connection that whoever asks was recognised."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Beyond `most` a connection is told so, and far beyond it is cut off. So is one of more than
    `most_strangers` from one address on which nobody has shown a valid credential yet.
    `left_over_seconds` are for the rest of a body that was refused: an honest sender looks for the
    answer only after it. Of an answer a peer must take something worth the wait in every
    `unread_seconds`."""

    most: int = 2500
    most_strangers: int = 1000
    head_seconds: float = 20.0
    left_over_seconds: float = 60.0
    unread_seconds: float = 30.0

    @property
    def most_answered(self) -> int:
        return _and_a_quarter(self.most)

    def is_crowded(self, all_of_them: int, strangers: int) -> bool:
        return all_of_them > self.most or strangers > self.most_strangers

    def is_overrun(self, all_of_them: int, strangers: int) -> bool:
        return all_of_them > self.most_answered or strangers > _and_a_quarter(self.most_strangers)


def _and_a_quarter(count: int) -> int:
    return count + count // 4 + 1


def vouch_for(request: Request) -> None:
    """Whoever asks has shown a valid credential: on this connection nobody is a stranger."""
    vouch = request.scope.get("state", {}).get(_VOUCH)
    if vouch is not None:
        vouch()


class _Owed(Enum):
    """What a peer has to send now."""

    NOTHING = 0
    HEAD = 1
    LEFT_OVER = 2


class GuardedProtocol(H11Protocol):
    limits = ConnectionLimits()
    proxies = NO_PROXIES
    strangers: ClassVar[Counter[str]]
    """Connections by address: those on which nobody has shown a credential."""

    _owed = _Owed.NOTHING
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _is_refused = False
    _stranger = ""
    """The address for which this connection is counted among `strangers`, if it is."""

    def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
        super().__init__(app_state={**app_state, _VOUCH: self._vouch}, **options)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(UNREAD_OCTETS)
        crowd = len(self.connections), self._count()
        self._is_refused = self.limits.is_crowded(*crowd)
        if self.limits.is_overrun(*crowd):
            transport.abort()
        elif self._is_refused:
            self.app = turned_away
            self._wait(REFUSED_SECONDS)
        else:
            self._mind()

    def _count(self) -> int:
        """How many strangers there are at this address now, and this is one of them. Behind a
        proxy everybody has the same address."""
        host = "" if self.client is None else self.client[0]
        if not host or host in self.proxies:
            return 0
        self._stranger = host
        self.strangers[host] += 1
        return self.strangers[host]

    def _vouch(self) -> None:
        if self._stranger:
            self.strangers[self._stranger] -= 1
            if not self.strangers[self._stranger]:
                del self.strangers[self._stranger]
            self._stranger = ""

    def pause_writing(self) -> None:
        """The peer does not take what it has asked for."""
        super().pause_writing()
        if self._unread is None:
            self._expect_less_than(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._has_read()

    def _expect_less_than(self, unread: int) -> None:
        """Nothing is written meanwhile: whoever has something to send waits too."""
        seconds = self.limits.unread_seconds
        self._unread = self.loop.call_later(seconds, self._look_at_the_rest, unread)

    def _look_at_the_rest(self, before: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if before - unread < self.limits.unread_seconds * READ_PER_SECOND:
            self.transport.abort()
        else:
            self._expect_less_than(unread)

    def _has_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _should_upgrade(self) -> bool:
        """Nothing here is a WebSocket: such a request is answered like any other (RFC 9110, section
        7.8). uvicorn would warn of each."""
        return False

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
        self._has_read()
        self._vouch()
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


def guarded(
    limits: ConnectionLimits, believed: TrustedProxies = NO_PROXIES
) -> type[GuardedProtocol]:
    """The protocol with these limits, and with no more connections than there are descriptors."""
    afforded = _afforded(limits)

    class Guarded(GuardedProtocol):
        limits = afforded
        proxies = believed
        strangers: ClassVar[Counter[str]] = Counter()

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
    return replace(limits, most=most)
