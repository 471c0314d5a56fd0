"""A further service is one entry in the list: tokens, variables, deployment and launcher follow."""

from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from fedperm.clock import SystemClock
from fedperm.errors import ForbiddenError
from fedperm.services import AGGREGATOR, SERVICES, ServiceSpec
from fedperm.web.credentials import TokenVerifier
from fedperm.wire.key_server import AccessTokenRequest, KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm_cli.deployment.databases import DatabaseKind
from fedperm_cli.deployment.preparation import Wishes, prepare
from fedperm_cli.deployment.server_names import names_of
from fedperm_cli.errors import FederationError
from fedperm_cli.federation.folder import make_folder
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.federation.processes import Processes
from tests.cli.operator import Operator
from tests.federation.witness_service import WITNESS
from tests.keyserver.member import Member
from tests.keyserver.server import KEY_BITS, OPERATOR, MovingClock, Server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def witness(monkeypatch) -> ServiceSpec:
    monkeypatch.setitem(SERVICES, WITNESS.name, WITNESS)
    return WITNESS


@pytest.fixture
def launcher(tmp_path, monkeypatch, witness):  # noqa: ARG001 (listed before the folder is made)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = make_folder(tmp_path)
    with Processes(folder.logs) as processes:
        yield Launcher(folder, processes)


def test_nobody_gets_a_token_for_a_service_that_is_not_listed():
    with pytest.raises(ValidationError, match="no service has this audience"):
        AccessTokenRequest(assertion="", audience=WITNESS.audience)


@pytest.mark.anyio
async def test_tokens_for_it_are_granted_and_accepted_by_it_alone(witness, tmp_path):
    clock = MovingClock()
    server = Server(tmp_path, clock)
    await server.api.create_key("demo", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), OPERATOR)
    minted = await server.api.mint_token("demo", TokenRequest(), OPERATOR)
    member = Member(server, clock)
    await member.enrol(minted.token)
    token = await member.access(witness)
    accepted = TokenVerifier(server.authority.public_key, witness).verify(token, clock.now())
    assert (accepted.aud, accepted.scope) == ("fedperm-witness", "countersign")
    with pytest.raises(ForbiddenError, match="this access token is for fedperm-witness"):
        TokenVerifier(server.authority.public_key, AGGREGATOR).verify(token, clock.now())
    server.close()


def test_the_launcher_starts_it_with_its_secrets_and_its_folder(witness, launcher):
    server = launcher.start_server(witness)
    launcher.wait_until_ready()
    version = httpx.get(f"{server.address}/version").json()
    assert version["service"] == "witness"
    assert launcher.folder.state("witness").is_dir()
    assert server.log.name == "witness.log"


def test_it_refuses_a_setting_that_it_does_not_know(witness, launcher):
    server = launcher.start_server(witness, hots="127.0.0.1")
    with pytest.raises(FederationError, match="FEDPERM_WITNESS_HOTS"):
        server.wait_until_ready()


def test_a_client_is_told_where_it_is(witness, launcher):
    """A program that prints the names of its variables stands for the client."""
    launcher.start_server(witness)
    launcher.wait_until_ready()
    client = launcher.start_client("ada", module="tests.cli.unruly")
    client.wait_until(lambda: "settings" in client.log.read_text(), 20, "says nothing")
    assert "FEDPERM_CLIENT_WITNESS_URL" in client.log.read_text()


@pytest.mark.usefixtures("witness")
def test_a_deployment_prepares_a_folder_for_it(tmp_path):
    names = {name: names_of(name, ()) for name in SERVICES}
    prepared = prepare(tmp_path, Wishes(names, DatabaseKind.SQLITE), SystemClock())
    own = {file.file for file in prepared if file.file.startswith("witness/")}
    named = ("ca.pem", "tls-certificate.pem", "tls-key.pem", "operator-token", "database-url")
    assert own == {f"witness/{name}" for name in (*named, "signet")}
    tokens = [tmp_path / "witness/operator-token", tmp_path / "operator/witness-operator-token"]
    assert len({path.read_bytes() for path in tokens}) == 1


def test_the_command_leaves_its_variables_to_it(monkeypatch):
    operator = Operator({"FEDPERM_WITNESS_PORT": "8201"})
    assert "unknown variables: FEDPERM_WITNESS_PORT" in operator("plan", "--help").stderr
    monkeypatch.setitem(SERVICES, WITNESS.name, WITNESS)
    assert operator("plan", "--help").returncode == 0
