"""Somebody on the network without a credential, or with one that was stolen."""

import asyncio
import signal
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection, Patience, http_client
from fedperm.errors import RefusedError, UntrustedError
from fedperm.run_document import LONGEST_DOCUMENT
from fedperm.web.log_brake import BURST
from fedperm.web.rate_limit import RateLimit
from fedperm.web.requests import CREDENTIAL_BODY, SMALL_BODY
from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.public_keys import from_text
from fedperm.wire.signed import verify
from fedperm.wire.statements import KeyRelease, SchemeSpec
from fedperm_client.identity import ClientKeys, enrol
from tests.adversary.conftest import Enrol
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock
from tests.aggregator.process import Process, running
from tests.aggregator.test_access import ROWS
from tests.aggregator.test_slow_uploads import dripping
from tests.aggregator.uploading import UNTRUSTED, WRONG_BODY, files, finish, headers, put
from tests.client.federation import KEY, Federation, drive
from tests.keys.sealing import open_key
from tests.keyserver.certificates import write_certificate
from tests.keyserver.member import Member
from tests.keyserver.process import KeyServerProcess
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server
from tests.keyserver.test_endpoint_walk import NONCE, OPEN, TABLE
from tests.web.unread import Unread

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}
SECRET = "an access token that nobody else must see"  # noqa: S105 (a test's own)


async def test_blocked_asking_without_a_credential(opened: Bench, key_server: Server):
    for method, path, _ in ROWS:
        place = path.format(run=opened.run, epoch=1, number=1, client="ada", sha256="0" * 64)
        assert (await opened.aggregator.http.request(method, place)).status_code == 401
    places = {"key": "demo", "epoch": "1", "identifier": "a", "client": "b", "nonce": NONCE}
    for (method, path), cells in TABLE.items():
        answer = await key_server.send(method, path.format(**places))
        assert cells is OPEN or answer.status_code in {401, 415}


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


async def test_blocked_repeating_an_old_word_of_the_newest_epoch(federation: Federation):
    """Without TLS, between a client and its key server: the old answer is for another nonce."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    overheard: list[bytes] = []

    def repeat(answer: bytes) -> bytes:
        overheard.append(answer)
        return overheard[0]

    ada.to_key_server.forgeries.append((lambda asked: "/newest-epoch/" in asked.url.path, repeat))
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
        await federation.key_server.api.create_epoch(KEY, 2, OPERATOR)
        with pytest.raises(UntrustedError, match="no answer to this client's question"):
            await drive(federation, one, two)
    assert not ada.uploads(2)


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
        f"/v1/runs/{opened.run}", content=bytes(LONGEST_DOCUMENT + 1)
    )
    assert answer.status_code == 413


async def test_blocked_flooding_with_unknown_members(opened: Bench, key_server: Server):
    """A quarter of a megabyte is not read, 4 KiB are told the first mistake; without a credential
    in the header nothing is read at all."""
    access = "/v1/access-tokens"
    for octets, status in ((248_000, 413), (CREDENTIAL_BODY + 1, 413), (CREDENTIAL_BODY, 422)):
        body = unknown_members(octets)
        answer = await key_server.http.post(access, content=body, headers=JSON)
        assert answer.status_code == status
        assert len(answer.json().get("errors", [])) == (status == 422)
        assert len(answer.content) < 1000
    beat = Unread(unknown_members(SMALL_BODY))
    place = f"/v1/runs/{opened.run}/participants/ada/heartbeat"
    answer = await opened.aggregator.http.put(place, content=beat, headers=JSON)
    assert (answer.status_code, beat.is_read) == (401, False)


def unknown_members(octets: int) -> bytes:
    members = ",".join(f'"{number:08x}":0' for number in range(octets // 13))
    return f"{{{members}}}".ljust(octets).encode()


async def test_blocked_taking_all_places_without_reading_answers(folder: Path):
    """There are three, for an attacker and for somebody who is served all the time. Soon there is
    room for a newcomer: the attacker reads nothing, and is hung up on."""
    long = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 20
    async with running(folder, most_connections=3, unread_seconds=1.0) as process:
        async with asyncio.timeout(60), kept_open(process) as friend:
            assert await friend.is_alive()
            attackers = [narrow_connection(process) for _ in range(2)]
            for attacker in attackers:
                attacker.sendall(long)
            assert not await newcomer_is_admitted(process)
            while not await newcomer_is_admitted(process):
                assert await friend.is_alive()
        for attacker in attackers:
            attacker.close()


async def test_blocked_taking_all_places_from_one_address(
    folder: Path, server: KeyServer, randomness, clients: list[Client]
):
    """Three strangers are let in from one address. Whoever has shown an access token is none, and a
    client that comes when they have left finds its place."""
    server.clock = ManualClock(time.time())
    async with running(folder, most_strangers=3) as process:
        bench = Bench(process, server, randomness, clients)
        await bench.create()
        await bench.join(*clients)
        bearer = f"Authorization: Bearer {server.token(clients[0])}\r\n".encode()
        async with asyncio.timeout(60), AsyncExitStack() as stack:
            held = [await stack.enter_async_context(kept_open(process)) for _ in range(3)]
            assert all([await one.is_alive() for one in held])
            assert not await newcomer_is_admitted(process)
            mine = f"GET /v1/runs/{bench.run}".encode()
            assert await held[0].is_alive(mine, bearer)
            assert await newcomer_is_admitted(process)
            assert all([await one.is_alive() for one in held])


@dataclass
class KeptOpen:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def is_alive(self, request: bytes = b"GET /livez", headers: bytes = b"") -> bool:
        self.writer.write(request + b" HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n")
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await self.reader.readexactly(length)
        return head.startswith(b"HTTP/1.1 200")


@asynccontextmanager
async def kept_open(process: Process) -> AsyncIterator[KeptOpen]:
    url = process.http.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    yield KeptOpen(reader, writer)
    writer.transport.abort()


async def newcomer_is_admitted(process: Process) -> bool:
    try:
        async with kept_open(process) as newcomer:
            return await newcomer.is_alive()
    except (OSError, asyncio.IncompleteReadError):  # far too many: without a word
        return False


def narrow_connection(process: Process) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    connection.connect((process.http.base_url.host, process.http.base_url.port))
    return connection


async def test_blocked_inventing_addresses_to_guess_more_often(folder: Path):
    """What a caller says about its own address is believed of a proxy that settings name only."""
    process = KeyServerProcess(folder, enrolment_burst="2", enrolment_per_second="0.001")
    try:
        async with httpx.AsyncClient(base_url=process.address) as http:
            answers = [
                await http.post(
                    "/v1/keys/demo/clients",
                    content=b"{}",
                    headers={**JSON, "X-Forwarded-For": f"198.51.100.{number}"},
                )
                for number in range(4)
            ]
    finally:
        process.stop(signal.SIGTERM)
    assert [answer.status_code for answer in answers] == [422, 422, 429, 429]


async def test_blocked_filling_the_log_with_nonsense(folder: Path):
    """Requests that are none, and upgrades: one line each would be a disk full of them."""
    process = KeyServerProcess(folder, log_level="INFO")
    host, port = process.address.removeprefix("http://").split(":")
    upgrade = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    try:
        for octets in (b"nonsense\r\n\r\n", upgrade):
            for _ in range(2 * BURST):
                with socket.create_connection((host, int(port)), 20) as connection:
                    connection.sendall(octets)
                    assert connection.recv(4096)
        logged = process.log.read_text()
    finally:
        process.stop(signal.SIGTERM)
    # more than the burst only if it takes minutes
    assert BURST <= logged.count("Invalid HTTP request") < 2 * BURST
    assert "upgrade" not in logged.lower()


async def test_blocked_asking_for_keys_without_end(folder: Path):
    """With a stolen token: each release costs milliseconds, and is in the audit log for good."""
    clock = MovingClock()
    server = Server(folder / "k", clock, release_limit=RateLimit(3, 0.1, clock))
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    member = Member(server, clock)
    await member.enrol((await server.api.mint_token("demo", TokenRequest(), OPERATOR)).token)
    stolen, place = await member.access(), "/v1/keys/demo/epochs/1/releases"
    answers = [await server.send("POST", place, token=stolen) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [201] * 3 + [429] * 3
    assert int(answers[-1].headers["Retry-After"]) == 10
    audit = (await server.api.audit(OPERATOR)).entries
    assert [entry.event for entry in audit].count("key-released") == 3
    server.close()


async def test_blocked_calling_without_a_pause(
    folder: Path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
):
    """With a stolen token, whatever is called for."""
    aggregator = Aggregator(folder, clock, call_burst=3, calls_per_second=1.0)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create()
    bearer = {"Authorization": f"Bearer {server.token(clients[0])}"}
    place = f"/v1/runs/{bench.run}"
    answers = [await aggregator.http.get(place, headers=bearer) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 2
    aggregator.close()


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
