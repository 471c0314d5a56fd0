"""A running key server with the key `demo`, and clients of it."""

from collections.abc import Awaitable, Callable

import pytest

from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server


@pytest.fixture
def clock() -> MovingClock:
    return MovingClock()


@pytest.fixture
def url() -> str | None:
    """Of the database, for modules that try others than a file in the state directory."""
    return None


@pytest.fixture
def start(tmp_path, clock, url):
    """Starts servers on one and the same database, and stops them all."""
    servers = []

    def start(**changes) -> Server:
        servers.append(Server(tmp_path, clock, url=url, **changes))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
async def server(start) -> Server:
    server = start()
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    return server


@pytest.fixture
def enrolled(server, clock) -> Callable[..., Awaitable[Member]]:
    """Mints a token and enrols a new client with it."""

    async def enrol(key: str = "demo", **wanted: object) -> Member:
        minted = await server.api.mint_token(key, TokenRequest(**wanted), OPERATOR)
        member = Member(server, clock, key)
        await member.enrol(minted.token)
        return member

    return enrol
