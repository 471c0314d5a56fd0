"""A crowd at the door of a real aggregator: clients that wait, connections that say nothing,
requests that make no sense, bodies without an end."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fedperm_secret.schemes.paillier.keys import generate_key
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, ManualClock
from tests.aggregator.process import Process, running

PATIENCE_SECONDS = 120.0
AT_ONCE = 50
"""Joins under way at a time."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Weight:
    """What the process takes."""

    files: int
    mebibytes: float
    cpu_seconds: float


class Target:
    """An aggregator with a run that waits for more clients than there will ever be."""

    def __init__(self, process: Process, bench: Bench) -> None:
        self.process, self.bench = process, bench
        self._control: Stream | None = None
        self.host, self.port = process.http.base_url.host, process.http.base_url.port

    @property
    def weight(self) -> Weight:
        place = Path(f"/proc/{self.process._process.pid}")
        files = len(list((place / "fd").iterdir()))
        pages = int((place / "statm").read_text().split()[1])
        ticks = sum(map(int, (place / "stat").read_text().rpartition(")")[2].split()[11:13]))
        mebibytes = pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
        return Weight(files, mebibytes, ticks / os.sysconf("SC_CLK_TCK"))

    async def connect(self) -> Stream:
        return await asyncio.open_connection(self.host, self.port)

    def poll_of(self, client: Client, seconds: float) -> bytes:
        path = f"/v1/runs/{self.bench.run}/participants/{client.name}/task?wait_seconds={seconds}"
        token = self.bench.server.token(client)
        return head_of("GET", path, Authorization=f"Bearer {token}")

    async def until_heard(self, clients: list[Client], start: float) -> None:
        """All of these, since then: whoever waits for a task was."""
        names = {client.name for client in clients}
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                listed = (await self.bench.api.participants(self.bench.run, OPERATOR)).participants
                if all(one.last_seen_at > start for one in listed if one.client in names):
                    return
                await asyncio.sleep(0.02)

    async def close(self) -> None:
        if self._control is not None:
            self._control[1].close()
            with suppress(OSError):
                await self._control[1].wait_closed()

    async def control_seconds(self, times: int) -> list[float]:
        """How long simple questions take meanwhile, on a connection that was there before."""
        self._control = self._control or await self.connect()
        reader, writer = self._control
        taken = []
        for _ in range(times):
            start = time.monotonic()
            writer.write(head_of("GET", "/livez"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert b" 200 OK" in await reader.readuntil(b'"ok"}')
            taken.append(time.monotonic() - start)
        return sorted(taken)

    async def statuses(self) -> Counter[str]:
        """Of all answers so far, as the metrics count them."""
        text = (await self.process.http.get("/metrics")).text
        counted: Counter[str] = Counter()
        for line in text.splitlines():
            if line.startswith("fedperm_http_requests_total{"):
                labels, _, count = line.rpartition(" ")
                counted[labels.partition('status="')[2][:3]] += int(float(count))
        return counted


@asynccontextmanager
async def target(folder: Path, clients: int, **settings: float) -> AsyncIterator[Target]:
    async with running(folder, **settings) as process:
        pair = generate_key(Random(7), 512, insecure_for_tests=True)
        server = KeyServer(
            ManualClock(time.time()), {1: pair}, signing=Ed25519PrivateKey.generate()
        )
        crowd = [Client(f"client-{number}") for number in range(clients)]
        bench = Bench(process, server, Random(1), crowd)
        await bench.create(rounds={"start_with": 1_000_000})
        for start in range(0, clients, AT_ONCE):
            await asyncio.gather(*map(bench.join, crowd[start : start + AT_ONCE]))
        found = Target(process, bench)
        try:
            yield found
        finally:
            await found.close()


@dataclass
class Crowd:
    """Connections that are held open until the block ends."""

    held: list[Stream] = field(default_factory=list)

    async def __aenter__(self) -> "Crowd":
        return self

    async def __aexit__(self, *_: object) -> None:
        for _, writer in self.held:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def send(self, target: Target, requests: Iterable[bytes]) -> None:
        for request in requests:
            reader, writer = await target.connect()
            writer.write(request)
            self.held.append((reader, writer))

    async def answers(self, seconds: float, waiting: int = 0) -> Counter[str]:
        """Of each connection the status that came within this time, `waits` or `cut off`. Earlier,
        if no more than so many wait. To be asked once."""
        pending = {asyncio.create_task(_status(reader)) for reader, _ in self.held}
        found: Counter[str] = Counter()
        end = time.monotonic() + seconds
        while len(pending) > waiting and (left := end - time.monotonic()) > 0:
            done, pending = await asyncio.wait(
                pending, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            found.update(task.result() for task in done)
        for task in pending:
            task.cancel()
        return found + Counter(waits=len(pending))


async def _status(reader: asyncio.StreamReader) -> str:
    try:
        line = await reader.readuntil(b"\r\n")
    except (OSError, asyncio.IncompleteReadError):
        return "cut off"
    return line.split(b" ")[1].decode()


async def talk(target: Target, octets: bytes) -> tuple[str, bytes]:
    """Everything that is answered until the other end closes, or has nothing more to say."""
    reader, writer = await target.connect()
    answer = b""
    with suppress(OSError, TimeoutError):
        writer.write(octets)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while chunk := await reader.read(1 << 16):
                answer += chunk
    writer.transport.abort()
    return answer.partition(b"\r\n")[0].decode("latin-1")[9:12], answer


def head_of(method: str, path: str, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: a"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


CLOSE = {"Connection": "close"}
JSON = {"Content_Type": "application/json"}
RUN = "/v1/runs/digits"

NONSENSE: dict[str, tuple[bytes, str]] = {
    "no HTTP at all": (b"\x16\x03\x01\x02\x00" * 40, "400"),
    "a head without end": (b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 70_000, "400"),
    "two lengths": (
        head_of("PUT", RUN, Content_Length="1")[:-2] + b"Content-Length: 2\r\n\r\n",
        "400",
    ),
    "a length of thirty digits": (head_of("PUT", RUN, Content_Length="9" * 30), "400"),
    "a negative length": (head_of("PUT", RUN, Content_Length="-1"), "400"),
    "a chunk of another length": (
        head_of("PUT", RUN, Transfer_Encoding="chunked", **JSON) + b"zz\r\nabc\r\n",
        "400",
    ),
    "a method of its own": (head_of("SEIZE", RUN, **CLOSE), "405"),
    "a path that climbs": (head_of("GET", "/v1/runs/../../etc/passwd", **CLOSE), "404"),
    "a path that climbs in code": (
        head_of("GET", "/v1/runs/..%2f..%2fetc%2fpasswd", **CLOSE),
        "404",
    ),
    "a name with a zero": (
        head_of("GET", "/v1/runs/a%00b", Authorization="Bearer x", **CLOSE),
        "422",
    ),
    "a name of 5,000": (
        head_of("GET", "/v1/runs/" + "a" * 5000, Authorization="Bearer x", **CLOSE),
        "422",
    ),
    "no UTF-8": (head_of("GET", "/v1/runs/%ff%fe", Authorization="Bearer x", **CLOSE), "422"),
    "an absolute address": (head_of("GET", "http://elsewhere/livez", **CLOSE), "404"),
    "a zipped body": (
        head_of("PUT", RUN, Content_Encoding="gzip", Content_Length="0", **CLOSE),
        "415",
    ),
    "a body of a terabyte": (
        head_of("PUT", RUN, Content_Length=str(1 << 40), **JSON, **CLOSE),
        "413",
    ),
    "an upgrade": (
        head_of("GET", "/livez", Upgrade="websocket", Connection="Upgrade, close"),
        "200",
    ),
    "a hundred requests in one breath": (
        head_of("GET", "/livez") * 99 + head_of("GET", "/livez", **CLOSE),
        "200",
    ),
}
"""What is sent, and the status of the first answer."""
