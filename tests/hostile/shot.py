"""One request of an attack: a generated case, who sends it, and what is odd about it besides."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import requests
from schemathesis import Case

from tests.hostile.credentials import Role

BASE = "http://server"


@dataclass(frozen=True)
class Shot:
    case: Case
    role: Role
    odd_headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """A body in the place of the case's own."""

    def request(self, secret: str | None) -> httpx.Request:
        """As the bytes that schemathesis would send; a credential that it made up is replaced."""
        self.case.headers.pop("Authorization", None)
        prepared = requests.Request(**_arguments(self.case)).prepare()
        body = prepared.body if self.raw is None else self.raw
        headers = dict(prepared.headers) | {"Content-Length": str(len(_octets(body)))}
        if secret is not None:
            headers["Authorization"] = f"Bearer {secret}"
        headers = {name: text for name, text in (headers | self.odd_headers).items() if text}
        request = httpx.Request(prepared.method or "", prepared.url or "", content=body)
        request.headers = httpx.Headers(headers, encoding="latin-1")
        return request


def _octets(body: bytes | str | None) -> bytes:
    return body.encode() if isinstance(body, str) else body or b""


def _arguments(case: Case) -> dict[str, Any]:
    known = {"method", "url", "headers", "files", "data", "params", "auth", "cookies", "json"}
    given = case.as_transport_kwargs(base_url=BASE)
    return {name: value for name, value in given.items() if name in known}
