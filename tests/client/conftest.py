"""A key server in this process with the key `main`, and identities of its clients."""

import httpx
import pytest

from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.wire.enrolment_token import EnrolmentToken, parse_token
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_client.identity import ClientIdentity, ClientKeys, enrol
from tests.client.cut_line import CutLine
from tests.client.federation import Federation
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

KEY = "main"


@pytest.fixture
def clock() -> MovingClock:
    return MovingClock()


@pytest.fixture
async def key_server(tmp_path, clock) -> Server:
    folder = tmp_path / "keyserver"
    folder.mkdir()
    server = Server(folder, clock)
    await server.api.create_key(KEY, KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    yield server
    server.close()


@pytest.fixture
def line(key_server) -> CutLine:
    """To the key server."""
    return CutLine(httpx.ASGITransport(app=key_server.app, raise_app_exceptions=False))


@pytest.fixture
def key_server_api(line) -> KeyServerApi:
    http = httpx.AsyncClient(transport=line, base_url="http://key-server")
    return KeyServerApi(Connection(http, Patience(seconds=0)))


@pytest.fixture
async def token(key_server) -> EnrolmentToken:
    minted = await key_server.api.mint_token(KEY, TokenRequest(), OPERATOR)
    return parse_token(minted.token)


@pytest.fixture
async def identity(tmp_path, randomness, token, key_server_api) -> ClientIdentity:
    keys = ClientKeys.kept_at(tmp_path / "keys.json", randomness)
    return await enrol(tmp_path / "enrolled.json", keys, KEY, token, key_server_api)


@pytest.fixture
def federation(tmp_path, clock) -> Federation:
    """Both servers, without a run."""
    federation = Federation(tmp_path, clock)
    yield federation
    federation.close()
