"""A refusal must reach its sender: whoever is refused while it still sends a body may send it
to the end. A connection that is closed before that is often reset, and the answer lost: the
sender would try again and again instead of reading why.
"""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OCTETS = 1 << 27
"""Of an unwanted body that are read; before a longer one the connection is closed."""


class Linger:
    """Pure ASGI, outermost: it sees every answer."""

    def __init__(self, app: ASGIApp, idle_seconds: float) -> None:
        self._app = app
        self._idle_seconds = idle_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _announces_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        request = _RequestBody(receive)

        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._read_rest(request)
            await send(message)

        await self._app(scope, request.receive, reply)

    async def _read_rest(self, request: "_RequestBody") -> None:
        try:
            while not request.is_over and request.seen <= MOST_OCTETS:
                await asyncio.wait_for(request.receive(), self._idle_seconds)
        except TimeoutError:
            return


class _RequestBody:
    """What of a request's body has come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.seen = 0
        self.is_over = False

    async def receive(self) -> Message:
        message = await self._receive()
        self.seen += len(message.get("body", b""))
        self.is_over = message["type"] != "http.request" or not message.get("more_body", False)
        return message


def _announces_body(headers: Headers) -> bool:
    """One of a bearable length, and does not wait for leave to send it."""
    length = headers.get("content-length", "0")
    is_short = length.isdecimal() and int(length) <= MOST_OCTETS
    has_body = length != "0" or "transfer-encoding" in headers
    return has_body and is_short and "expect" not in headers
