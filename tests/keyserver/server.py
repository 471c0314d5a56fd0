"""A key server in this process, on a database of its own, with a clock that tests move."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from prometheus_client import CollectorRegistry

from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.database import Database, open_database, sqlite_url
from fedperm.randomness import from_operating_system
from fedperm.state_folder import make_state_folder
from fedperm.web.credentials import OperatorCredential
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.message import Message
from fedperm_keyserver.app import Parts, build_app
from fedperm_keyserver.authority import establish
from fedperm_keyserver.migrations import SCHEMA
from fedperm_keyserver.stores.keys import IdentityStore
from fedperm_keyserver.vault import key_encryption_key

OPERATOR = "the key operator's bearer secret"
RUN_OPERATOR = "the run operator's bearer secret"
KEK = "0123456789abcdef" * 4
OTHER_KEK = "fedcba9876543210" * 4
KEY_BITS = 512
TOKEN_SECONDS = 300


@dataclass
class MovingClock:
    """Stands still until it is moved; `meanwhile` happens when somebody looks at it next."""

    time: float = 1_800_000_000.0
    meanwhile: list[Callable[[], None]] = field(default_factory=list)

    def now(self) -> float:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


def database_in(folder: Path, url: str | None = None) -> Database:
    """A file in the folder, or another one by its URL."""
    make_state_folder(folder)
    return open_database(url or sqlite_url(folder / "keyserver.db"), SCHEMA)


class Server:
    """Several of them on one database are several processes, or a restart."""

    def __init__(
        self,
        folder: Path,
        clock: MovingClock,
        kek: str | None = KEK,
        url: str | None = None,
        **changes: Any,
    ) -> None:
        self._place = folder, url
        self._beside: list[Database] = []
        self.database = database_in(*self._place)
        randomness = from_operating_system()
        opened = key_encryption_key(kek) if kek else None
        try:
            self.authority = establish(IdentityStore(self.database), opened, clock, randomness)
        except BaseException:
            self.database.close()
            raise
        parts = {
            "database": self.database,
            "authority": self.authority,
            "operator": OperatorCredential.of(OPERATOR),
            "enrolment_limit": RateLimit(1000, 1000, clock),
            "access_limit": RateLimit(1000, 1000, clock),
            "grant_limit": RateLimit(1000, 1000, clock),
            "call_limit": RateLimit(1000, 1000, clock),
            "release_limit": RateLimit(1000, 1000, clock),
            "clock": clock,
            "randomness": randomness,
            "registry": CollectorRegistry(),
            "access_token_seconds": TOKEN_SECONDS,
            "insecure_for_tests": True,
        }
        self.app = build_app(Parts(**{**parts, **changes}))
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://key-server")
        self.api = KeyServerApi(Connection(self.http, Patience(seconds=0)))

    def beside(self) -> Database:
        """Of another process, such as a command's."""
        self._beside.append(database_in(*self._place))
        return self._beside[-1]

    def close(self) -> None:
        for database in (self.database, *self._beside):
            database.close()

    async def send(
        self, method: str, path: str, message: Message | None = None, token: str | None = None
    ) -> httpx.Response:
        """For what the typed client does not show: statuses and headers."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if message is None:
            return await self.http.request(method, path, headers=headers)
        headers["Content-Type"] = "application/json"
        body = message.model_dump_json()
        return await self.http.request(method, path, headers=headers, content=body)
