"""Both servers in this process with everything on them that a request could hit: keys, clients,
tokens, a run with a published and an open round. Made once; every attack gets a copy."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm.protocol import PROTOCOL
from fedperm.services import AGGREGATOR, SERVICES
from fedperm.submissions import UPDATE
from fedperm.web.rate_limit import RateLimit
from fedperm.wire.aggregator import MANIFEST, KeyEpoch, Participation
from fedperm.wire.body import MEDIA_TYPE
from fedperm.wire.digest import content_digest
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.aggregator.bench import Aggregator, quick_folder
from tests.aggregator.parties import (
    MODEL,
    OPERATOR,
    Client,
    KeyServer,
    document_of,
)
from tests.aggregator.test_reports import REPORT
from tests.documents.operator import signature_of
from tests.hostile.credentials import Endpoint, Role
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, TOKEN_SECONDS, MovingClock, Server
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

KEY, OTHER_KEY = "main", "other"
SPARE = 40
"""Enrolment tokens and assertions, each good once."""


@dataclass(frozen=True, repr=False)
class Scene:
    """What an attacker may know or have: real names, real credentials, right requests."""

    credentials: dict[Role, str | None]
    names: dict[str, tuple[str, ...]]
    """Real values for a path's parameters, by the parameter's name."""
    right: dict[Endpoint, tuple["RightRequest", ...]]
    """Those that have a body."""
    proofs: frozenset[str]
    """Enrolment tokens and assertions that are good."""

    @property
    def secrets(self) -> frozenset[str]:
        """What no answer may repeat."""
        return self.proofs | {text for text in self.credentials.values() if text}


@dataclass(frozen=True)
class RightRequest:
    """One that an honest party would send."""

    body: dict[str, Any] | bytes
    headers: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def octets(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Servers:
    key_server: Server
    aggregator: Aggregator

    @property
    def apps(self) -> dict[str, Any]:
        return {"key server": self.key_server.app, "aggregator": self.aggregator.app}

    def close(self) -> None:
        self.aggregator.close()
        self.key_server.close()


def _open(folder: Path, clock: MovingClock) -> Servers:
    """No rate limit: it would refuse almost everything before it is looked at. Nobody waits: long
    polls and streams end at once."""
    endless = RateLimit(1 << 40, 1.0, clock)
    limits = {"enrolment_limit": endless, "access_limit": endless}
    return Servers(Server(folder / "keys", clock, **limits), Aggregator(folder, clock))


class World:
    def __init__(self, folder: Path, scene: Scene, clock: MovingClock) -> None:
        self._folder, self.scene, self._clock = folder, scene, clock

    @contextmanager
    def copy(self) -> Iterator[Servers]:
        """Both servers as they were in the beginning."""
        with quick_folder() as folder:
            shutil.copytree(self._folder, folder, dirs_exist_ok=True)
            servers = _open(folder, self._clock)
            servers.aggregator.services.background.start()
            servers.aggregator.services.notifier.close()
            try:
                yield servers
            finally:
                servers.close()


@contextmanager
def world() -> Iterator[World]:
    clock = MovingClock()
    with quick_folder() as folder:
        servers = _open(folder, clock)
        scene = asyncio.run(_Settlement(servers, clock).found())
        servers.close()
        yield World(folder, scene, clock)


class _Settlement:
    """Founds the world, by the servers' own interfaces."""

    def __init__(self, servers: Servers, clock: MovingClock) -> None:
        self.keys, self.aggregator, self.clock = servers.key_server, servers.aggregator, clock
        self.proofs: list[str] = []

    async def found(self) -> Scene:
        for key in (KEY, OTHER_KEY):
            await self.keys.api.create_key(
                key, KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), KEY_OPERATOR
            )
        self.members = {name: await self._enrol(name) for name in ("ada", "ben", "cleo", "gone")}
        self.members["dora"] = await self._enrol("dora", OTHER_KEY)
        expired = await self.members["ada"].access(AGGREGATOR)
        self.clock.advance(TOKEN_SECONDS + 61)
        revoked = await self.members["gone"].access()
        pair = await self.members["ada"].secret_key(1)
        await self._run(pair)
        await self.keys.api.revoke_client(KEY, "gone", KEY_OPERATOR)
        return await self._scene(expired, revoked)

    async def _enrol(self, name: str, key: str = KEY) -> Member:
        member = Member(self.keys, self.clock, key)
        wanted = TokenRequest(client=name)
        minted = await self.keys.api.mint_token(key, wanted, KEY_OPERATOR)
        await member.enrol(minted.token)
        return member

    async def _run(self, pair: Any) -> None:
        """Round 1 is published; round 2 is open, and ada's update is in it."""
        api = self.aggregator.api
        signing_key = self.keys.authority.identity.signing_key
        key = {"key": KEY, "parameters": {"key_bits": KEY_BITS}, "signing_key": signing_key}
        nobody = KeyServer(self.clock, {})
        rounds = {"count": 9, "deadline_seconds": 1e6}
        self.document = document_of(nobody, key=key, rounds=rounds)
        self.idle = document_of(nobody, key=key, run="idle")
        for document in (self.document, self.idle):
            await api.create_run(document, OPERATOR)
        run = self.document.content.run
        await api.put_initial_model(run, MODEL, OPERATOR)
        self.record = (await self.keys.api.epoch(KEY, 1)).record
        await api.put_key_epoch(run, 1, KeyEpoch(record=self.record), OPERATOR)
        self.clients = {n: Client(n, self.members[n].signing) for n in ("ada", "ben", "cleo")}
        for name in self.clients:
            await self._join(name)
        await self.aggregator.tick()
        randomness = Random(3)
        self.prepared = {
            (number, name): client.prepare(self.document, number, 1, pair, randomness)
            for number in (1, 2)
            for name, client in self.clients.items()
        }
        for number, name in ((1, "ada"), (1, "ben"), (1, "cleo"), (2, "ada")):
            await self._upload(number, name)
            await self.aggregator.tick()

    async def _join(self, name: str) -> None:
        token = await self.members[name].access(AGGREGATOR)
        message = Participation(document=self.document.sha256, protocol=PROTOCOL)
        await self.aggregator.api.join(self.document.content.run, name, message, token)

    async def _upload(self, number: int, name: str) -> None:
        token = await self.members[name].access(AGGREGATOR)
        sent = self.prepared[number, name]
        run = self.document.content.run
        await self.aggregator.api.submit(UPDATE, run, number, name, sent.body, sent.manifest, token)

    async def _scene(self, expired: str, revoked: str) -> Scene:
        member = self.members
        credentials = {
            Role.NOBODY: None,
            Role.RUN_OPERATOR: OPERATOR,
            Role.KEY_OPERATOR: KEY_OPERATOR,
            Role.CLIENT_OF_RUN: await member["ada"].access(AGGREGATOR),
            Role.CLIENT_OF_KEYS: await member["ada"].access(),
            Role.EXPIRED: expired,
            Role.OTHER_CLIENT: await member["ben"].access(AGGREGATOR),
            Role.OTHER_CLIENT_OF_KEYS: await member["ben"].access(),
            Role.OTHER_KEY: await member["dora"].access(AGGREGATOR),
            Role.OTHER_KEY_OF_KEYS: await member["dora"].access(),
            Role.REVOKED: revoked,
            Role.FORGED: _forged(self.clock),
        }
        right = await self._right()
        return Scene(credentials, await self._names(), right, _proofs(right))

    async def _names(self) -> dict[str, tuple[str, ...]]:
        tokens = (await self.keys.api.tokens(KEY, KEY_OPERATOR)).tokens
        return {
            "run": (self.document.content.run, "idle"),
            "key": (KEY, OTHER_KEY),
            "client": (*self.clients, "gone", "dora"),
            "number": ("1", "2", "3"),
            "epoch": ("1", "2", "3"),
            "identifier": tuple(token.id for token in tokens[-3:]),
        }

    async def _right(self) -> dict[Endpoint, tuple[RightRequest, ...]]:
        run, client = {"run": self.document.content.run}, {"client": "ada"}
        document = self.document.content.model_dump(mode="json")
        round_ = "/v1/runs/{}/rounds/{}"
        return {
            Endpoint("PUT", "/v1/keys/{}"): _bodies({"key_bits": KEY_BITS}, {}, key=KEY),
            Endpoint("POST", "/v1/keys/{}/enrolment-tokens"): _bodies(
                {"uses": 3}, {"client": "eve"}, {"client": "ada"}, key=KEY
            ),
            Endpoint("POST", "/v1/keys/{}/clients"): _bodies(
                *[await self._enrolment(n) for n in range(SPARE)], key=KEY
            ),
            Endpoint("POST", "/v1/access-tokens"): _bodies(
                *[self._assertion(n) for n in range(SPARE)]
            ),
            Endpoint("PUT", "/v1/runs/{}"): (
                _signed(document, **run),
                _signed(document | {"run": "fresh"}, run="fresh"),
            ),
            Endpoint("PUT", "/v1/runs/{}/initial-model"): (RightRequest(MODEL, _head(MODEL), run),),
            Endpoint("PUT", "/v1/runs/{}/key-epochs/{}"): _bodies(
                {"record": self.record}, **run, epoch="1"
            ),
            Endpoint("PUT", "/v1/runs/{}/participants/{}"): _bodies(
                {"document": self.document.sha256}, **run, **client
            ),
            Endpoint("PUT", "/v1/runs/{}/participants/{}/heartbeat"): _bodies(
                {"phase": "idle", "round": 0}, **run, **client
            ),
            Endpoint("PUT", round_ + "/updates/{}"): tuple(self._uploads(run)),
            Endpoint("PUT", round_ + "/reports/{}"): _bodies(
                REPORT.model_dump(mode="json"), **run, **client, number="1"
            ),
        }

    async def _enrolment(self, number: int) -> dict[str, Any]:
        wanted = TokenRequest(uses=1 + number % 2)
        minted = await self.keys.api.mint_token(KEY, wanted, KEY_OPERATOR)
        newcomer = Member(self.keys, self.clock, KEY)
        return newcomer.enrolment(minted.token).model_dump(mode="json")

    def _assertion(self, number: int) -> dict[str, Any]:
        name = ("ada", "ben", "dora", "gone")[number % 4]
        service = tuple(SERVICES.values())[number // 4 % len(SERVICES)]
        return {"assertion": self.members[name].assertion(), "audience": service.audience}

    def _uploads(self, run: dict[str, str]) -> Iterator[RightRequest]:
        for (number, name), sent in self.prepared.items():
            headers = _head(sent.body) | {MANIFEST: sent.manifest}
            place = run | {"number": str(number), "client": name}
            yield RightRequest(sent.body, headers, place)


def _bodies(*bodies: dict[str, Any], **parameters: str) -> tuple[RightRequest, ...]:
    return tuple(RightRequest(body, {}, parameters) for body in bodies)


def _signed(document: dict[str, Any], **parameters: str) -> RightRequest:
    request = RightRequest(document, {}, parameters)
    return replace(request, headers=signature_of(request.octets))


def _proofs(right: dict[Endpoint, tuple[RightRequest, ...]]) -> frozenset[str]:
    bodies = [request.body for requests in right.values() for request in requests]
    given = [body for body in bodies if isinstance(body, dict)]
    return frozenset(body[n] for body in given for n in ("token", "assertion") if n in body)


def _head(body: bytes) -> dict[str, str]:
    digest = content_digest(hashlib.sha256(body).hexdigest())
    return {"Content-Type": MEDIA_TYPE, "Content-Digest": digest}


def _forged(clock: MovingClock) -> str:
    """Of the right form, for the right client, by the wrong key server."""
    stranger = KeyServer(clock, {}, KEY, Ed25519PrivateKey.generate())
    return stranger.token(Client("ada"))
