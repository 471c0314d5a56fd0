"""Where attackers attack: an aggregator with an open round, a key server, a federation."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.aggregator.bench import quick_folder
from tests.aggregator.conftest import (  # noqa: F401 (fixtures)
    aggregator,
    anyio_backend,
    bench,
    clients,
    clock,
    folder,
    opened,
    opened_state,
    other_key,
    server,
    signing,
)
from tests.client.federation import Federation
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

Enrol = Callable[..., Awaitable[Member]]


@pytest.fixture(scope="session")
def key_state() -> Iterator[Path]:
    """Of a key server that has made the key `demo`: made once, copied for every test."""
    with quick_folder() as home:
        made = Server(home, MovingClock())
        wanted = KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS))
        asyncio.run(made.api.create_key("demo", wanted, OPERATOR))
        made.close()
        yield home


@pytest.fixture
def key_server(key_state: Path, folder: Path) -> Iterator[Server]:  # noqa: F811 (the fixture)
    """Its clock is `key_server.clock`."""
    shutil.copytree(key_state, folder / "keyserver")
    time = MovingClock()
    found = Server(folder / "keyserver", time)
    found.clock = time  # type: ignore[attr-defined]
    yield found
    found.close()


@pytest.fixture
def enrolled(key_server: Server) -> Enrol:
    """A new client of the key server's, with a token of its own."""

    async def enrol(**wanted: object) -> Member:
        minted = await key_server.api.mint_token("demo", TokenRequest(**wanted), OPERATOR)
        member = Member(key_server, key_server.clock)  # type: ignore[attr-defined]
        await member.enrol(minted.token)
        return member

    return enrol


@pytest.fixture
def federation(folder: Path) -> Iterator[Federation]:  # noqa: F811 (the fixture)
    federation = Federation(folder, MovingClock())
    yield federation
    federation.close()
