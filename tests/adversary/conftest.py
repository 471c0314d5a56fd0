"""Where attackers attack: an aggregator with an open round, a key server, a federation."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from fedperm.wire.key_server import KeyRequest, TokenRequest
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


@pytest.fixture
async def key_server(folder: Path) -> AsyncIterator[Server]:  # noqa: F811
    """With the key `demo`; its clock is `key_server.clock`."""
    time = MovingClock()
    found = Server(folder / "keyserver", time)
    found.clock = time  # type: ignore[attr-defined]
    await found.api.create_key("demo", KeyRequest(key_bits=KEY_BITS), OPERATOR)
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
