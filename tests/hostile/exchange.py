"""A shot at a server in this process, and what came back."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.hostile.shot import Shot


@dataclass(frozen=True)
class Exchange:
    shot: Shot
    response: httpx.Response

    def __str__(self) -> str:
        sent, shot = self.response.request, self.shot
        body = shot.raw if shot.raw is not None else shot.case.body
        return (
            f"{sent.method} {sent.url.raw_path.decode()} as {shot.role.value}, "
            f"odd headers {shot.odd_headers}: {self.response.status_code} "
            f"{self.response.text[:300]}\n    {shot.case.headers!r:.300} {body!r:.300}"
        )


class Caller:
    """Sends shots one after the other."""

    def __init__(self, app: Any, loop: asyncio.AbstractEventLoop) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport)
        self._loop = loop

    def send(self, shot: Shot, secret: str | None) -> Exchange:
        response = self._loop.run_until_complete(self._client.send(shot.request(secret)))
        return Exchange(shot, response)


@contextmanager
def calling(app: Any) -> Iterator[Caller]:
    loop = asyncio.new_event_loop()
    try:
        yield Caller(app, loop)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
