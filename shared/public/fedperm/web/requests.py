"""The outermost layer: request ids, limits of bodies, and the net under everything else."""

import logging
import math
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fedperm.errors import BodyError, FedPermError, InvalidRequestError, MediaTypeError
from fedperm.logs import request_id
from fedperm.web.incoming_body import IncomingBody, Pace, too_large
from fedperm.web.metrics import HttpMetrics
from fedperm.web.problems import crash, refusal

log = logging.getLogger(__name__)

REQUEST_ID = "X-Request-ID"
CREDENTIAL_BODY = 1 << 12
"""Octets of a body that holds the credential itself, at most: anybody may send one."""
SMALL_BODY = 1 << 14
"""Octets of any other JSON body, at most, unless its path has a limit of its own."""
PACE = Pace(30.0)
BULK_PACE = Pace(60.0, octets_per_second=1 << 14)
"""Slower senders hold a connection for little use."""

_TAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class BodyLimits:
    """Bodies are small, uncompressed and of one length; paths that match `bulk` check their length
    themselves. `lengths` has the limits of single paths."""

    bulk: re.Pattern[str] | None = None
    lengths: Mapping[re.Pattern[str], int] = field(default_factory=dict)
    pace: Pace = PACE
    bulk_pace: Pace = BULK_PACE

    def check(self, scope: Scope, headers: Headers) -> None:
        if "content-encoding" in headers:
            raise MediaTypeError(
                f"the body is encoded: {headers['content-encoding'][:40]}",
                "send it without Content-Encoding",
            )
        if has_two_lengths(headers):
            raise InvalidRequestError(
                "the request has both a Content-Length and a Transfer-Encoding",
                "send one of them: others on the way may go by the other one",
            )
        most = self._most(scope)
        if _stated_length(headers) > most:
            raise too_large(most)

    def body(self, scope: Scope, receive: Receive) -> IncomingBody:
        pace = self.bulk_pace if self._is_bulk(scope) else self.pace
        return IncomingBody(receive, pace, self._most(scope))

    def _most(self, scope: Scope) -> float:
        if self._is_bulk(scope):
            return math.inf
        path: str = scope["path"]
        return next((n for form, n in self.lengths.items() if form.fullmatch(path)), SMALL_BODY)

    def _is_bulk(self, scope: Scope) -> bool:
        return self.bulk is not None and self.bulk.fullmatch(scope["path"]) is not None


def has_two_lengths(headers: Headers) -> bool:
    """Whoever is between may have taken the other one: where the next request begins is in doubt,
    and the connection must not be used again (RFC 9112, section 6.1)."""
    return "content-length" in headers and "transfer-encoding" in headers


class RequestLayer:
    """Pure ASGI: streams pass through it untouched."""

    def __init__(self, app: ASGIApp, limits: BodyLimits, metrics: HttpMetrics) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        token = request_id.set(_identifier(headers))
        try:
            body = self._limits.body(scope, receive)
            reply = _Reply(send, body, is_last=has_two_lengths(headers))
            await self._handle(scope, body, reply)
        finally:
            request_id.reset(token)

    async def _handle(self, scope: Scope, body: IncomingBody, reply: "_Reply") -> None:
        start = time.perf_counter()
        try:
            self._limits.check(scope, Headers(scope=scope))
            await self._app(scope, body, reply)
        except FedPermError as error:
            await reply.instead(refusal(error), scope, body)
        except ClientDisconnect:  # nobody hears of it; it is counted
            early = BodyError("the body ended early", "send it whole")
            await reply.instead(refusal(early), scope, body)
        except Exception as error:
            await reply.instead(crash(error), scope, body)
        self._metrics.observe(scope, reply.status, time.perf_counter() - start)


class _Reply:
    """Sends, remembers the status, and adds the request id. Whoever sends too slowly is hung up
    on: the rest of the body would hold the connection. So is whoever sends his `last` request."""

    def __init__(self, send: Send, body: IncomingBody, *, is_last: bool) -> None:
        self._send = send
        self._body = body
        self._is_last = is_last
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = request_id.get()
            if self._body.is_given_up or self._is_last:
                headers["Connection"] = "close"
        await self._send(message)

    async def instead(self, response: ASGIApp, scope: Scope, receive: Receive) -> None:
        """The refusal, unless an answer has begun: then the connection just ends."""
        if not self.status:
            await response(scope, receive, self)


def _identifier(headers: Headers) -> str:
    """The caller's own, if it is tame, so that logs of both parties can be joined."""
    given = headers.get(REQUEST_ID, "")
    return given if _TAME.fullmatch(given) else secrets.token_hex(8)


def _stated_length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0
