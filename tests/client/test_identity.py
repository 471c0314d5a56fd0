"""Enrolment: once, repeatable, and only at the key server that the token names."""

import json
import stat
from random import Random

import httpx
import pytest

from fedperm.api.connection import Connection, Patience
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import RefusedError, SettingsError, UnreachableError, UntrustedError
from fedperm.wire.public_keys import fingerprint, text_of
from fedperm_client.errors import StateError
from fedperm_client.identity import ClientKeys, enrol, kept_identity
from tests.client.conftest import KEY
from tests.client.cut_line import CutLine, request_of
from tests.keyserver.server import OPERATOR

pytestmark = pytest.mark.anyio

ENROLMENT = request_of("POST", "/clients")


def public_halves(keys: ClientKeys) -> tuple[str, str]:
    return text_of(keys.signing.public_key()), text_of(keys.sealing.public_key())


async def test_the_key_server_knows_the_client_by_its_own_keys(identity, key_server):
    (client,) = (await key_server.api.clients(KEY, OPERATOR)).clients
    assert (client.client, client.ordinal) == (identity.name, identity.enrolled.ordinal)
    assert client.signing_key == public_halves(identity.keys)[0]
    assert identity.enrolled.key_server == await key_server.api.identity()


async def test_a_kept_identity_needs_no_key_server(identity, tmp_path):
    keys = ClientKeys.kept_at(tmp_path / "keys.json", Random(99))
    kept = kept_identity(tmp_path / "enrolled.json", keys, KEY)
    assert kept.enrolled == identity.enrolled
    assert public_halves(kept.keys) == public_halves(identity.keys)


async def test_after_a_lost_answer_the_same_keys_get_the_same_identity(
    tmp_path, randomness, token, key_server_api, key_server, line
):
    """The keys were on disk before the request, so a restarted client repeats it exactly."""
    line.after.append(ENROLMENT)
    for _ in range(2):
        keys = ClientKeys.kept_at(tmp_path / "keys.json", randomness)
        try:
            identity = await enrol(tmp_path / "e.json", keys, KEY, token, key_server_api)
        except UnreachableError:
            assert not (tmp_path / "e.json").exists()
    (client,) = (await key_server.api.clients(KEY, OPERATOR)).clients
    assert client.client == identity.name
    assert len(line.sent(ENROLMENT)) == 2


@pytest.mark.usefixtures("identity")
async def test_without_its_keys_a_client_cannot_use_its_token_again(
    tmp_path, token, key_server_api
):
    strangers = ClientKeys.kept_at(tmp_path / "others.json", Random(5))
    with pytest.raises(RefusedError) as refusal:
        await enrol(tmp_path / "others-enrolled.json", strangers, KEY, token, key_server_api)
    assert refusal.value.status == 409


class Between(httpx.AsyncBaseTransport):
    """Passes everything on, and puts another signing key into the answers."""

    def __init__(self, line: CutLine, signing_key: str) -> None:
        self._line = line
        self._identity = {"signing_key": signing_key, "fingerprint": fingerprint(signing_key)}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._line.handle_async_request(request)
        content = json.loads(await response.aread())
        return httpx.Response(response.status_code, json={**content, "key_server": self._identity})


async def test_whoever_stands_between_cannot_hand_out_another_signing_key(
    tmp_path, randomness, token, line
):
    keys = ClientKeys.kept_at(tmp_path / "keys.json", randomness)
    http = httpx.AsyncClient(transport=Between(line, "B" * 42 + "A"), base_url="http://key-server")
    api = KeyServerApi(Connection(http, Patience(seconds=0)))
    with pytest.raises(UntrustedError, match="not the one that the enrolment token names"):
        await enrol(tmp_path / "enrolled.json", keys, KEY, token, api)
    assert not (tmp_path / "enrolled.json").exists()


async def test_another_key_needs_another_state_directory(identity, tmp_path):
    with pytest.raises(SettingsError, match="enrolled for the key main, not for other"):
        kept_identity(tmp_path / "enrolled.json", identity.keys, "other")


def test_keys_are_the_clients_own_and_closed_to_others(tmp_path):
    path = tmp_path / "keys.json"
    keys = ClientKeys.kept_at(path, Random(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert public_halves(keys) != public_halves(ClientKeys.kept_at(tmp_path / "2", Random(2)))
    secrets = json.loads(path.read_text()).values()
    assert not any(secret in f"{keys!r} {keys}" for secret in secrets)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"signing_key": "short", "sealing_key": "x"}'])
def test_damaged_keys_are_refused_and_not_replaced(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    with pytest.raises(StateError, match=r"keys.json is damaged") as refusal:
        ClientKeys.kept_at(path, Random(1))
    assert "backup" in refusal.value.hint
    assert path.read_bytes() == content
