"""Somebody on the network without a credential, or with one that was stolen."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.errors import RefusedError, UntrustedError
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import SMALL_BODY
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.public_keys import from_text
from fedperm.wire.signed import verify
from fedperm.wire.statements import KeyRelease, SchemeSpec
from fedperm_client.identity import ClientKeys, enrol
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock
from tests.aggregator.test_access import ROWS
from tests.aggregator.test_slow_uploads import dripping
from tests.aggregator.uploading import UNTRUSTED, WRONG_BODY, files, finish, headers, put
from tests.keys.sealing import open_key
from tests.keyserver.certificates import write_certificate
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server
from tests.keyserver.test_endpoint_walk import OPEN, TABLE

pytestmark = pytest.mark.anyio
SECRET = "an access token that nobody else must see"  # noqa: S105 (a test's own)


async def test_blocked_asking_without_a_credential(opened: Bench, key_server: Server):
    for method, path, _ in ROWS:
        place = path.format(run=opened.run, epoch=1, number=1, client="ada")
        assert (await opened.aggregator.http.request(method, place)).status_code == 401
    places = {"key": "demo", "epoch": "1", "identifier": "a", "client": "b"}
    for (method, path), cells in TABLE.items():
        answer = await key_server.send(method, path.format(**places))
        assert cells is OPEN or answer.status_code in {401, 422}


async def test_blocked_changing_an_upload_on_its_way(opened: Bench, clients: list[Client]):
    """Its bytes, and its headers to match: the signature is the client's."""
    prepared = opened.prepare(clients[0], 1)
    changed = prepared.body[:-1] + bytes([prepared.body[-1] ^ 1])
    answer = await put(opened, clients[0], headers(opened, clients[0], prepared), changed)
    assert (answer.status_code, answer.json()["type"]) == (422, WRONG_BODY)
    outsider = Client("ada")
    manifest = outsider.manifest(opened.document, 1, 1, changed)
    given = headers(opened, clients[0], prepared_as(changed, manifest, prepared))
    answer = await put(opened, clients[0], given, changed)
    assert (answer.status_code, answer.json()["type"]) == (422, UNTRUSTED)
    await finish(opened, clients)


def prepared_as(body: bytes, manifest: str, like):
    return type(like)(body, manifest, like.coded, like.shuffled)


async def test_blocked_standing_between_a_client_and_its_key_server(
    tmp_path: Path, key_server: Server, randomness
):
    """The token that the operator handed over names the right server's signing key."""
    minted = await key_server.api.mint_token("demo", TokenRequest(), OPERATOR)
    between = Server(tmp_path / "between", MovingClock())

    class Between:
        """Passes the request on, and answers in the name of another key server."""

        async def enrol(self, key, enrolment):
            enrolled = await key_server.api.enrol(key, enrolment)
            return enrolled.model_copy(update={"key_server": between.authority.identity})

    keys = ClientKeys.kept_at(tmp_path / "keys.json", randomness)
    with pytest.raises(UntrustedError, match="not the one that the enrolment token names"):
        await enrol(tmp_path / "e.json", keys, "demo", parse_token(minted.token), Between())
    between.close()


async def test_blocked_using_a_stolen_token_to_upload(opened: Bench, clients: list[Client]):
    """A token says who asks; what is uploaded needs the client's own signature."""
    thief = Client("ada")
    prepared = opened.prepare(thief, 1)
    given = headers(opened, clients[0], prepared)  # Ada's token, the thief's manifest
    answer = await put(opened, clients[0], given, prepared.body)
    assert (answer.status_code, answer.json()["type"]) == (422, UNTRUSTED)


async def test_blocked_using_a_stolen_token_to_fetch_a_key(key_server: Server, enrolled: Enrol):
    """What it gets is sealed to the client that was robbed."""
    stolen = await (await enrolled()).access()
    answer = await key_server.api.release("demo", 1, stolen)
    release = verify(answer.release, KeyRelease, key_server.authority.public_key)
    thief = X25519PrivateKey.generate()
    with pytest.raises(UntrustedError, match="not sealed to this client"):
        open_key(from_text(release.sealed), thief, key="demo", epoch=1, client="client-0")


async def test_not_covered_reading_with_a_stolen_token(opened: Bench, clients: list[Client]):
    """Until it expires: the document, outcomes, published (encrypted) aggregates."""
    stolen = opened.server.token(clients[0])
    assert await opened.api.document(opened.run, stolen)
    opened.clock.advance(961)
    with pytest.raises(RefusedError):
        await opened.api.document(opened.run, stolen)


@asynccontextmanager
async def listening(context: ssl.SSLContext | None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers anything, behind somebody who writes down what passes: the port of
    that somebody, and his notes."""
    notes: list[bytes] = []
    busy: list[asyncio.Task[None] | None] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while octets := await reader.read(1 << 16):
            notes.append(octets)
            writer.write(octets)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        busy.append(asyncio.current_task())
        there, back = await asyncio.open_connection("127.0.0.1", port_of(server))
        await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    between = await asyncio.start_server(relay, "127.0.0.1", 0)
    async with server, between:
        yield port_of(between), notes
        await asyncio.wait([task for task in busy if task], timeout=5)


def port_of(server: asyncio.Server) -> int:
    return server.sockets[0].getsockname()[1]


def tls(folder: Path) -> tuple[ssl.SSLContext, Path]:
    folder.mkdir()
    certificate, key = write_certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context, certificate


async def ask(port: int, scheme: str, ca_file: Path | None = None) -> None:
    async with http_client(f"{scheme}://127.0.0.1:{port}", ca_file) as http:
        await http.get("/v1/runs", headers={"Authorization": f"Bearer {SECRET}"})


async def test_blocked_listening_to_tls(tmp_path: Path):
    context, certificate = tls(tmp_path / "server")
    async with listening(context) as (port, notes):
        await ask(port, "https", certificate)
    heard = b"".join(notes)
    assert len(heard) > 500
    assert SECRET.encode() not in heard
    assert b"/v1/runs" not in heard


async def test_blocked_answering_with_another_certificate(tmp_path: Path):
    _, right = tls(tmp_path / "server")
    context, _ = tls(tmp_path / "attacker")
    async with listening(context) as (port, notes):
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await ask(port, "https", right)
    assert SECRET.encode() not in b"".join(notes)


async def test_not_covered_listening_without_tls():
    async with listening(None) as (port, notes):
        await ask(port, "http")
    assert SECRET.encode() in b"".join(notes)


async def test_blocked_guessing_enrolment_tokens(folder: Path):
    """Soon he is told to wait."""
    clock = MovingClock()
    server = Server(folder / "k", clock, enrolment_limit=RateLimit(3, 0.1, clock))
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    member = Member(server, clock)
    fingerprint = server.authority.identity.fingerprint
    guess = member.enrolment(f"fpt1.a.{'A' * 43}.{fingerprint}")
    answers = [await server.send("POST", "/v1/keys/demo/clients", guess) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 3 + [429] * 3
    assert int(answers[-1].headers["Retry-After"]) > 0
    server.close()


async def test_blocked_flooding_with_large_bodies(opened: Bench):
    """They are refused by their announced length, before a credential is looked at."""
    answer = await opened.aggregator.http.put(
        f"/v1/runs/{opened.run}", content=bytes(SMALL_BODY + 1)
    )
    assert answer.status_code == 413


async def test_blocked_holding_more_polls_than_there_is_room(
    folder: Path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
):
    """Two wait, the third is told to come back."""
    aggregator = Aggregator(folder, clock, most_waiting=2)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create(rounds={"start_with": 3})
    await bench.join(*clients)
    api = AggregatorApi(Connection(aggregator.http, Patience(0.0)))
    waiting = [
        asyncio.create_task(api.next_task(bench.run, c.name, 0, 20.0, server.token(c)))
        for c in clients[:2]
    ]
    while len(aggregator.services.polls._held) < 2:
        await asyncio.sleep(0.01)
    with pytest.raises(RefusedError) as refused:
        await bench.task(clients[2])
    assert (refused.value.status, refused.value.kind) == (503, "busy")
    aggregator.services.notifier.close()
    await asyncio.gather(*waiting)
    aggregator.close()


async def test_blocked_sending_a_body_for_ever(
    folder: Path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
):
    aggregator = Aggregator(folder, clock, body_idle_seconds=0.1)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create()
    await bench.join(*clients)
    await aggregator.tick()
    prepared = bench.prepare(clients[0], 1)
    stalling = dripping(prepared.body, asyncio.Event())
    answer = await put(bench, clients[0], headers(bench, clients[0], prepared), stalling)
    assert (answer.status_code, answer.json()["type"]) == (422, WRONG_BODY)
    assert files(bench) == []
    aggregator.close()
