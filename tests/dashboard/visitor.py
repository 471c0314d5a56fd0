"""A browser without a screen: keeps cookies, and says where its requests come from."""

import json
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.dashboard.places import Place


@dataclass(frozen=True)
class Told:
    """One server-sent event."""

    position: int
    kind: str
    content: dict[str, Any]


class Visitor:
    def __init__(self, place: Place, site: str = "") -> None:
        self.place = place
        self.site = site or place.address
        transport = httpx.ASGITransport(app=place.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url=self.site)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def log_in(self, token: str | None = None, **headers: str) -> httpx.Response:
        """With what opens the door, if nothing else is given."""
        form = {"token": self.place.key if token is None else token}
        given = {"Origin": self.site, **headers}
        return await self.http.post("/dashboard/login", data=form, headers=given)

    async def log_out(self, form_token: str, **headers: str) -> httpx.Response:
        given = {"Origin": self.site, "X-Form-Token": form_token, **headers}
        return await self.http.post("/dashboard/logout", headers=given)

    async def form_token(self) -> str:
        return (await self.http.get("/dashboard/api/session")).json()["form_token"]

    async def is_logged_in(self) -> bool:
        return (await self.http.get("/dashboard/api/session")).status_code == 200

    async def told(self, path: str) -> list[Told]:
        """What a stream says until it ends."""
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return [_parse(block) for block in answer.text.split("\n\n") if block.startswith("id")]


def _parse(block: str) -> Told:
    fields = dict(line.split(": ", 1) for line in block.splitlines())
    return Told(int(fields["id"]), fields["event"], json.loads(fields["data"]))
