"""What a program does for the first time takes long: imports, schemas, compiled statements. The
nursery has done it once, so that its children need not."""

import asyncio
import importlib
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from fedperm.services import AGGREGATOR, CLIENT, KEY_SERVER
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import Client, KeyServer, ManualClock
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

PATIENCE_SECONDS = 120.0
_LAZY = ("httpcore", "uvicorn.protocols.http.auto", "uvicorn.loops.auto", "uvicorn.lifespan.on")


def warm_up(program: str) -> None:
    for name in _LAZY:
        importlib.import_module(name)
    with _folder() as folder:
        asyncio.run(_LIVES[program](folder))
    _wait_until_alone()


def _wait_until_alone() -> None:
    """Threads do not fork: what one of them holds would be held for ever."""
    end = time.monotonic() + PATIENCE_SECONDS
    while len(list(Path("/proc/self/task").iterdir())) > 1:
        assert time.monotonic() < end, "threads are left over"
        time.sleep(0.01)


async def _aggregator(folder: Path) -> None:
    clock, clients = ManualClock(), [Client(name) for name in ("ada", "ben", "cleo")]
    pair = generate_key(Random(7), KEY_BITS, insecure_for_tests=True)
    aggregator = Aggregator(folder, clock)
    bench = Bench(aggregator, KeyServer(clock, {1: pair}), Random(1), clients)
    aggregator.services.background.start()
    await bench.create(rounds={"count": 1})
    await bench.join(*clients)
    await aggregator.tick()
    await bench.contribute(1, *clients)
    await aggregator.tick()
    await bench.state(1)
    aggregator.close()


async def _key_server(folder: Path) -> None:
    clock = MovingClock()
    server = Server(folder, clock)
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    member = Member(server, clock)
    await member.enrol(minted.token)
    await member.release(1)
    server.close()


async def _client(folder: Path) -> None:
    """Two of them, two rounds: torch, the noise and the accountant have been used."""
    from tests.client.federation import Federation, drive  # noqa: PLC0415 (imports torch)

    federation = Federation(folder, MovingClock())
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    federation.close()


_LIVES: dict[str, Callable[[Path], Coroutine[Any, Any, None]]] = {
    AGGREGATOR.module: _aggregator,
    KEY_SERVER.module: _key_server,
    CLIENT.module: _client,
}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
