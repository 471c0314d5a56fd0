"""The real program: over real HTTP, killed in the middle of its life, and started again."""

import json
import signal
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from fedperm.api.connection import Connection, Patience, http_client
from fedperm.api.key_server import KeyServerApi
from fedperm.clock import SystemClock
from fedperm.services import AGGREGATOR
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.public_keys import signing_key
from fedperm.wire.statements import SchemeSpec
from tests.keyserver.certificates import write_certificate
from tests.keyserver.member import Member
from tests.keyserver.process import KeyServerProcess, environment, run_to_its_end
from tests.keyserver.refusals import refusal
from tests.keyserver.server import KEK, KEY_BITS, OPERATOR, OTHER_KEK

pytestmark = pytest.mark.anyio


class Seen:
    """A server as a member knows it: its interface, and the identity that it published."""

    def __init__(self, process: KeyServerProcess, certificate: Path | None = None) -> None:
        self.http = http_client(process.address, certificate)
        self.api = KeyServerApi(Connection(self.http, Patience(seconds=10)))

    async def meet(self) -> "Seen":
        identity = await self.api.identity()
        self.authority = SimpleNamespace(
            identity=identity, public_key=signing_key(identity.signing_key)
        )
        return self


@pytest.fixture
def start(tmp_path):
    started = []

    def start(**settings: str) -> KeyServerProcess:
        started.append(KeyServerProcess(tmp_path, **settings))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop(signal.SIGKILL)


class NowClock(SystemClock):
    @property
    def time(self) -> float:
        return self.now()


async def test_what_was_answered_survives_a_kill_and_the_way_to_tls(start, tmp_path):
    process = start()
    server = await Seen(process).meet()
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    member = Member(server, NowClock())
    enrolled = await member.enrol(minted.token)
    secret_key = await member.secret_key(1)
    used = AccessTokenRequest(assertion=member.assertion(), audience=AGGREGATOR.audience)
    await server.api.access_token(used)
    await server.http.aclose()
    process.stop(signal.SIGKILL)

    certificate, key = write_certificate(tmp_path)
    process = start(tls_certificate=str(certificate), tls_key=str(key))
    member.server = again = await Seen(process, certificate).meet()
    assert again.authority.identity == server.authority.identity
    assert await member.enrol(minted.token) == enrolled
    assert (await member.secret_key(1)).public_key == secret_key.public_key
    await refusal(401, "unauthenticated", again.api.access_token(used))
    await again.http.aclose()
    await check_trust(process)
    assert process.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
    check_log(process.log.read_text(), [KEK, OPERATOR, minted.token.split(".")[2]])


async def check_trust(process: KeyServerProcess) -> None:
    """Those who do not know the certificate do not talk to it."""
    assert process.address.startswith("https://127.0.0.1:")
    async with http_client(process.address) as http:
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await http.get("/readyz")


def check_log(text: str, secrets: list[str]) -> None:
    """One JSON object a line, also at the finest level, and no secret."""
    messages = [json.loads(line)["message"] for line in text.splitlines()]
    assert messages.count("open") == 2
    assert messages.count("key released") == 2
    assert [secret for secret in secrets if secret in text] == []


async def test_it_starts_sealed_without_the_key_encryption_key(start):
    process = start(key_encryption_key_file="")
    async with http_client(process.address) as http:
        assert (await http.get("/livez")).status_code == 200
        assert (await http.get("/readyz")).json()["type"] == "urn:fedperm:problem:sealed"
    assert "sealed" in process.log.read_text()


def test_a_wrong_start_ends_with_what_is_wrong_and_what_to_do(tmp_path):
    ended = run_to_its_end(environment(tmp_path, key_encryption_key=OTHER_KEK))
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        "the key-encryption key is given twice",
        "set the file, the command or the variable, not both",
    ]
