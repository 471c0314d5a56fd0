"""Whatever a peer answers, it takes no more memory than it was granted."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.answers import LARGEST_MESSAGE, LONGEST_LINE
from fedperm.api.connection import Connection, Patience, Request, http_client
from fedperm.errors import UnreachableError, UntrustedError
from fedperm.wire.aggregator import RoundList
from fedperm.wire.problem import MEDIA_TYPE
from tests.web.edge import Thing

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 20.0
CHUNK = bytes(1 << 16)
MANY = 1 << 14
"""Chunks: a gigabyte, should anybody want it all."""

Body = AsyncIterator[bytes]


class Peer:
    """Answers every request with this head and body, and remembers what it was asked."""

    def __init__(self, head: list[str], body: Callable[[], Body]) -> None:
        self._head = "\r\n".join(["HTTP/1.1 " + head[0], *head[1:], "", ""]).encode()
        self._body = body
        self.asked: list[str] = []
        self.taken = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
            writer.write(self._head)
            async for chunk in self._body():
                writer.write(chunk)
                await writer.drain()
                self.taken += len(chunk)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # whoever asked has heard enough
        finally:
            writer.close()


@asynccontextmanager
async def talking_to(peer: Peer) -> AsyncIterator[Connection]:
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server, http_client(f"http://{host}:{port}") as http:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield Connection(http, Patience(0.0))


def just(content: bytes) -> Callable[[], Body]:
    async def body() -> Body:
        yield content

    return body


async def endless() -> Body:
    for _ in range(MANY):
        yield CHUNK


ASK = Request("GET", "/thing")


async def test_an_answer_without_an_end_is_left_in_its_middle():
    peer = Peer(["200 OK"], endless)
    async with talking_to(peer) as connection:
        with pytest.raises(UntrustedError, match="more than 4,194,304 octets"):
            await connection.ask(ASK, Thing)
    assert peer.taken < 4 * LARGEST_MESSAGE


async def test_a_bulk_answer_has_the_limit_that_its_reader_knows():
    peer = Peer(["200 OK"], endless)
    async with talking_to(peer) as connection:
        with pytest.raises(UntrustedError, match="more than 100,000 octets"):
            await connection.send(Request("GET", "/bulk", most_octets=100_000))
    exact = Peer(["200 OK"], just(bytes(100_000)))
    async with talking_to(exact) as connection:
        answer = await connection.send(Request("GET", "/bulk", most_octets=100_000))
    assert answer.content == bytes(100_000)


async def test_an_announced_length_beyond_the_limit_is_enough():
    async def silence() -> Body:
        yield b"{"
        await asyncio.Event().wait()

    peer = Peer(["200 OK", f"Content-Length: {LARGEST_MESSAGE + 1}"], silence)
    async with talking_to(peer) as connection:
        with pytest.raises(UntrustedError, match="more than"):
            await connection.ask(ASK, Thing)


async def test_an_operator_may_read_long_lists():
    content = b'{"rounds": [' + b" " * LARGEST_MESSAGE + b"]}"
    async with talking_to(Peer(["200 OK"], just(content))) as connection:
        assert (await connection.ask(ASK, RoundList)).rounds == ()


@pytest.mark.parametrize("content", [gzip.compress(bytes(1 << 24)), b"not even gzip"])
async def test_an_encoded_answer_is_not_decoded(content: bytes):
    """16 MB of zeros travel as 16 kB."""
    peer = Peer(["200 OK", "Content-Encoding: gzip"], just(content))
    async with talking_to(peer) as connection:
        with pytest.raises(UntrustedError, match="encoded, though asked not to"):
            await connection.ask(ASK, Thing)
        with pytest.raises(UntrustedError, match="encoded"):
            await anext(connection.lines(ASK))
    assert all("accept-encoding: identity\r\n" in request for request in peer.asked)


async def test_of_a_refusal_that_is_no_problem_document_the_status_is_enough():
    for more in (["Content-Encoding: gzip"], [f"Content-Type: {MEDIA_TYPE}"]):
        peer = Peer(["404 Not Found", *more], endless)
        async with talking_to(peer) as connection:
            with pytest.raises(UnreachableError, match="answered 404 and no problem document"):
                await connection.ask(ASK, Thing)
        assert peer.taken < 4 * LARGEST_MESSAGE


async def test_a_line_without_an_end_is_left_in_its_middle():
    async def events() -> Body:
        yield b"data: 1\r\ndata: "
        async for chunk in endless():
            yield chunk

    peer = Peer(["200 OK"], events)
    async with talking_to(peer) as connection:
        lines = connection.lines(ASK)
        assert await anext(lines) == "data: 1"
        with pytest.raises(UntrustedError, match="more than"):
            await anext(lines)
    assert peer.taken < 2 * LONGEST_LINE


@pytest.mark.parametrize("text", [b"{}", b"x", b"\xff", b"[" * 9999, b'{"id": NaN}'])
async def test_an_event_that_is_none_is_not_trusted(text: bytes):
    peer = Peer(["200 OK", "Content-Type: text/event-stream"], just(b"data: " + text + b"\n\n"))
    async with talking_to(peer) as connection:
        with pytest.raises(UntrustedError, match="an event that is none"):
            await anext(AggregatorApi(connection).events("demo", "token"))


async def test_no_cookie_is_kept():
    peer = Peer(["204 No Content", "Set-Cookie: a=b", "Content-Length: 0"], just(b""))
    async with talking_to(peer) as connection:
        for _ in range(2):
            assert (await connection.send(ASK)).status_code == 204
    assert [request for request in peer.asked if "cookie" in request] == []
    assert len(peer.asked) == 2


async def test_what_is_no_http_at_all_is_unreachable():
    async with talking_to(Peer(["nonsense"], just(b"\r\n" * 3))) as connection:
        with pytest.raises(UnreachableError, match="did not answer"):
            await connection.ask(ASK, Thing)
