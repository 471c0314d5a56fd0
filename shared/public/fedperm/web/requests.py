"""The outermost layer: request ids, limits of bodies, and the net under everything else."""

import logging
import re
import secrets
import time
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fedperm.errors import BodyTooLargeError, FedPermError, MediaTypeError
from fedperm.logs import request_id
from fedperm.web.metrics import HttpMetrics
from fedperm.web.problems import crash, refusal

log = logging.getLogger(__name__)

REQUEST_ID = "X-Request-ID"
SMALL_BODY = 1 << 18
"""Octets of a JSON body, at most."""

_TAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class BodyLimits:
    """Bodies are small and uncompressed; paths that match `bulk` check their length themselves."""

    bulk: re.Pattern[str] | None = None

    def check(self, scope: Scope, headers: Headers) -> None:
        if "content-encoding" in headers:
            raise MediaTypeError(
                f"the body is encoded: {headers['content-encoding'][:40]}",
                "send it without Content-Encoding",
            )
        if self.applies(scope) and _stated_length(headers) > SMALL_BODY:
            raise _too_large()

    def applies(self, scope: Scope) -> bool:
        return self.bulk is None or not self.bulk.fullmatch(scope["path"])


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
        token = request_id.set(_identifier(Headers(scope=scope)))
        try:
            await self._handle(scope, receive, _Reply(send))
        finally:
            request_id.reset(token)

    async def _handle(self, scope: Scope, receive: Receive, reply: "_Reply") -> None:
        start = time.perf_counter()
        try:
            self._limits.check(scope, Headers(scope=scope))
            limited = _counted(receive) if self._limits.applies(scope) else receive
            await self._app(scope, limited, reply)
        except FedPermError as error:
            await reply.instead(refusal(error), scope, receive)
        except Exception as error:
            await reply.instead(crash(error), scope, receive)
        self._metrics.observe(scope, reply.status, time.perf_counter() - start)


class _Reply:
    """Sends, remembers the status, and adds the request id."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID] = request_id.get()
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


def _counted(receive: Receive) -> Receive:
    """For bodies that do not state their length, or state it wrongly."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > SMALL_BODY:
            raise _too_large()
        return message

    return counted


def _too_large() -> BodyTooLargeError:
    return BodyTooLargeError(
        f"the body is longer than {SMALL_BODY:,} octets", "send one message of the protocol"
    )
