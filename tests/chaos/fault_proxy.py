"""A TCP proxy of one link that makes faults: plain bytes there and back.

It knows just enough of HTTP/1.1 to see where a request ends, by its Content-Length: each request
meets its own fault, whole ones can be sent twice, and a witness is told what has left.
"""

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from tests.chaos.faults import Fault, FaultKind, Plan, RequestLine

BLOCK = 1 << 16
MOST_SEGMENTS = 100
"""Of a sliced message; what is left comes at once."""
TWIN_SECONDS = 20.0
"""How long the answer to a duplicate is read."""
HOLD_SECONDS = 20.0
"""An answer that is to be lost is waited for so long."""


class Witness(Protocol):
    def sent(self, request: RequestLine, body: bytes) -> None:
        """So much of the body went out."""

    def answered(self, request: RequestLine, status: int) -> None:
        """By the server, whether or not the client hears of it."""

    def met(self, fault: Fault) -> None:
        """It happened."""


class CutError(Exception):
    """The connection is to be gone."""


class FaultProxy:
    """What a listening server of this event loop does with each connection."""

    def __init__(self, port: int, plan: Plan, witness: Witness) -> None:
        """`port` is the server's, on this machine."""
        self._port = port
        self._plan = plan
        self._witness = witness

    async def __call__(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a client. Its end is no news, not even when it is cancelled: asyncio
        would log that."""
        over = (OSError, CutError, asyncio.IncompleteReadError, asyncio.CancelledError)
        with suppress(*over):
            async with _aborting(writer), self._to_server() as (answers, requests):
                way_back = _WayBack(answers, writer, self._witness)
                going_back = asyncio.create_task(way_back.run())
                going_there = asyncio.create_task(self._requests(reader, requests, way_back))
                await _first_of(going_back, going_there)

    @asynccontextmanager
    async def _to_server(self) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        async with _aborting(writer):
            yield reader, writer

    async def _requests(
        self, reader: StreamReader, writer: StreamWriter, way_back: "_WayBack"
    ) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            line, length = _read_head(head)
            fault = self._plan(line)
            way_back.expect(line, fault)
            if fault is not None:
                self._witness.met(fault)
            way_there = _WayThere(reader, writer, _Sending(line, head, length), self._witness)
            await self._pass_on(way_there, fault)
            if fault is not None and fault.kind is FaultKind.LOSE_ANSWER:
                await way_back.hold(fault.seconds)

    async def _pass_on(self, way: "_WayThere", fault: Fault | None) -> None:
        match fault:
            case Fault(FaultKind.DROP):
                raise CutError
            case Fault(FaultKind.CUT_REQUEST, octets):
                await way.send(most=octets)
                raise CutError
            case Fault(FaultKind.SLICE, octets):
                await way.send(segment=octets)
            case Fault(FaultKind.DUPLICATE):
                twin = await way.read_all()
                await asyncio.gather(way.send_again(twin), self._send_twin(way.sending.line, twin))
            case Fault(FaultKind.DELAY, seconds=seconds):
                await asyncio.sleep(seconds)
                await way.send()
            case _:
                await way.send()

    async def _send_twin(self, line: RequestLine, octets: bytes) -> None:
        """On a connection of its own; nobody but the witness hears of the answer."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(TWIN_SECONDS), self._to_server() as (reader, writer):
                writer.write(octets)
                status = _status(await reader.read(BLOCK))
                if status is not None:
                    self._witness.answered(line, status)


@dataclass(frozen=True)
class _Sending:
    """One request; `head` with the empty line that ends it, `length` that of the body."""

    line: RequestLine
    head: bytes
    length: int


class _WayThere:
    def __init__(
        self, reader: StreamReader, writer: StreamWriter, sending: _Sending, witness: Witness
    ) -> None:
        self.sending = sending
        self._reader = reader
        self._writer = writer
        self._witness = witness

    async def send(self, most: int | None = None, segment: int | None = None) -> None:
        """As it comes; at most so many octets, never all of them then."""
        total = len(self.sending.head) + self.sending.length
        left = total if most is None else min(most, total - 1)
        body = b""
        try:
            await _write(self._writer, self.sending.head[:left], segment)
            left -= len(self.sending.head)
            while left > 0:
                block = await self._reader.read(min(left, BLOCK))
                if not block:
                    raise CutError
                body += block
                await _write(self._writer, block, segment)
                left -= len(block)
        finally:
            self._witness.sent(self.sending.line, body)

    async def read_all(self) -> bytes:
        return self.sending.head + await self._reader.readexactly(self.sending.length)

    async def send_again(self, octets: bytes) -> None:
        self._witness.sent(self.sending.line, octets[len(self.sending.head) :])
        await _write(self._writer, octets)


class _WayBack:
    """Bytes as they come, spoilt by the fault of the request that they answer."""

    def __init__(self, reader: StreamReader, writer: StreamWriter, witness: Witness) -> None:
        self._reader = reader
        self._writer = writer
        self._witness = witness
        self._expected: RequestLine | None = None
        self._fault: Fault | None = None
        self._passed = 0
        self._has_begun = asyncio.Event()

    def expect(self, line: RequestLine, fault: Fault | None) -> None:
        """Before the request goes out."""
        self._expected, self._fault, self._passed = line, fault, 0
        self._has_begun.clear()

    async def hold(self, seconds: float) -> None:
        """Until the answer has come, and a little longer; then the connection is gone."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_begun.wait(), HOLD_SECONDS)
        await asyncio.sleep(seconds)
        raise CutError

    async def run(self) -> None:
        while octets := await self._reader.read(BLOCK):
            self._tell(octets)
            self._has_begun.set()
            match self._fault:
                case Fault(FaultKind.LOSE_ANSWER):
                    continue
                case Fault(FaultKind.CUT_ANSWER, most):
                    await self._pass_at_most(octets, most)
                case Fault(FaultKind.SLICE, segment):
                    await _write(self._writer, octets, segment)
                case _:
                    await _write(self._writer, octets)

    def _tell(self, octets: bytes) -> None:
        status = _status(octets)
        if self._expected is not None and status is not None:
            self._witness.answered(self._expected, status)
            self._expected = None

    async def _pass_at_most(self, octets: bytes, most: int) -> None:
        await _write(self._writer, octets[: most - self._passed])
        self._passed += len(octets)
        if self._passed >= most:
            raise CutError


def _read_head(head: bytes) -> tuple[RequestLine, int]:
    method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
    length = re.search(rb"\r\ncontent-length: *(\d+)\r\n", head, re.IGNORECASE)
    return RequestLine(method, path), int(length[1]) if length else 0


def _status(octets: bytes) -> int | None:
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", octets)
    return int(found[1]) if found else None


async def _write(writer: StreamWriter, octets: bytes, segment: int | None = None) -> None:
    for part in _segments(octets, segment):
        writer.write(part)
        await writer.drain()
        if segment is not None:
            await asyncio.sleep(0.001)  # else the kernel puts them together again


def _segments(octets: bytes, segment: int | None) -> Iterator[bytes]:
    if segment is None:
        yield octets
        return
    sliced = segment * MOST_SEGMENTS
    for start in range(0, min(sliced, len(octets)), segment):
        yield octets[start : min(start + segment, sliced)]
    if len(octets) > sliced:
        yield octets[sliced:]


@asynccontextmanager
async def _aborting(writer: StreamWriter) -> AsyncIterator[None]:
    """The connection ends at once, however the block ends; what was written before is sent."""
    try:
        yield
    finally:
        writer.close()
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), 1.0)
        writer.transport.abort()


async def _first_of(*tasks: "asyncio.Task[None]") -> None:
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
