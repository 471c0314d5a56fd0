"""A line between client and server that breaks, waits or lies where a test says."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from fedperm.wire.problem import MEDIA_TYPE

Match = Callable[[httpx.Request], bool]


def request_of(method: str, ending: str) -> Match:
    """Requests of this method whose path ends so."""
    return lambda request: request.method == method and request.url.path.endswith(ending)


class CutLine(httpx.AsyncBaseTransport):
    """`before` loses a request on its way, `after` loses its answer; `meanwhile` happens when the
    request is under way; a refusal answers it with a status; each of these once. A forgery changes
    the content of every answer, or the whole of it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.before: list[Match] = []
        self.after: list[Match] = []
        self.meanwhile: list[tuple[Match, Callable[[], Awaitable[None]]]] = []
        self.refusals: list[tuple[Match, int]] = []
        self.forgeries: list[tuple[Match, Callable[[bytes], bytes | httpx.Response]]] = []
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if _cut(self.before, request):
            raise httpx.ConnectError("the line was cut before the request")
        await self._let_happen(request)
        self.requests.append(request)
        for match, status in list(self.refusals):
            if match(request):
                self.refusals.remove((match, status))
                problem = {"status": status, "detail": "because the test says so"}
                return httpx.Response(status, json=problem, headers={"Content-Type": MEDIA_TYPE})
        response = await self._inner.handle_async_request(request)
        if _cut(self.after, request):
            await response.aread()
            raise httpx.ReadError("the line was cut before the answer")
        return await self._forged(request, response)

    def reroute(self, app: Any) -> None:
        """To the successor of a server that crashed."""
        self._inner = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def sent(self, match: Match) -> list[httpx.Request]:
        return [request for request in self.requests if match(request)]

    async def _let_happen(self, request: httpx.Request) -> None:
        for match, happen in list(self.meanwhile):
            if match(request):
                self.meanwhile.remove((match, happen))
                await happen()

    async def _forged(self, request: httpx.Request, response: httpx.Response) -> httpx.Response:
        for match, forge in self.forgeries:
            if match(request):
                forged = forge(await response.aread())
                if isinstance(forged, httpx.Response):
                    return forged
                kept = {k: v for k, v in response.headers.items() if k != "content-length"}
                return httpx.Response(response.status_code, content=forged, headers=kept)
        return response


def _cut(cuts: list[Match], request: httpx.Request) -> bool:
    for cut in cuts:
        if cut(request):
            cuts.remove(cut)
            return True
    return False
