"""A line between client and server that breaks where a test says."""

from collections.abc import Callable

import httpx

Match = Callable[[httpx.Request], bool]


def request_of(method: str, ending: str) -> Match:
    """Requests of this method whose path ends so."""
    return lambda request: request.method == method and request.url.path.endswith(ending)


class CutLine(httpx.AsyncBaseTransport):
    """`before` loses a request on its way, `after` loses its answer; each cut happens once."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.before: list[Match] = []
        self.after: list[Match] = []
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if _cut(self.before, request):
            raise httpx.ConnectError("the line was cut before the request")
        self.requests.append(request)
        response = await self._inner.handle_async_request(request)
        if _cut(self.after, request):
            await response.aread()
            raise httpx.ReadError("the line was cut before the answer")
        return response

    def sent(self, match: Match) -> list[httpx.Request]:
        return [request for request in self.requests if match(request)]


def _cut(cuts: list[Match], request: httpx.Request) -> bool:
    for cut in cuts:
        if cut(request):
            cuts.remove(cut)
            return True
    return False
