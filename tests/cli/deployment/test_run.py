"""`fedperm deployment run` against real servers with TLS out of a prepared folder."""

import asyncio
import json
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from fedperm.errors import UnreachableError
from fedperm.wire.aggregator import RunState, RunStatus
from fedperm_cli.run.views import Silence
from fedperm_cli.run.watching import Watch
from fedperm_cli.servers.options import AsRunOperator
from fedperm_client.peers import connect
from tests.cli.deployment.tls_federation import TlsFederation, tls_federation, wait_until
from tests.cli.operator import Finished, Operator

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    with tls_federation(tmp_path_factory.mktemp("deployment")) as federation:
        yield federation


def summary(finished: Finished) -> str:
    """What comes after the last round."""
    head, _, tail = finished.stdout.partition("\nTime by phase\n")
    assert head
    assert tail
    return tail


def test_from_nothing_to_the_summary_and_the_same_again(federation):
    """One test, since the clients alone take seconds: from servers without a key to the last model;
    then the same command finds the same run and the same token."""
    with federation.clients(2) as started:
        first = federation.operator("deployment", "run")
    assert first.returncode == 0, first.stderr
    assert [client.wait(60) for client in started.result()] == [0, 0]

    lines = first.stdout.splitlines()
    assert lines[0].startswith("key         demo, paillier (key_bits 512)")
    assert f"in {federation.token_file}, " in lines[1]
    assert (
        "demo: 2 rounds of up to 20 clients, synthetic (d = 8), k1 = 8, k2 = 1, no noise"
        in lines[2]
    )
    assert [line[:28] for line in lines if line.startswith("round")] == [
        "round    1  2 of 2 clients  ",
        "round    2  2 of 2 clients  ",
    ]
    for words in ("encrypts its masks", "Bytes moved", "no noise is added"):
        assert words in summary(first)
    assert "Accuracy" not in first.stdout  # there is nothing to learn
    assert lines[-1] == "the run completed after 2 rounds"
    assert len({federation.model_of(name) for name in ("client-0", "client-1")}) == 1

    token = federation.token_file.read_bytes()
    again = federation.operator("deployment", "run")
    assert again.returncode == 0, again.stderr
    assert summary(again) == summary(first)
    assert "2 of 20 clients enrolled" in again.stdout
    assert federation.token_file.read_bytes() == token


@pytest.fixture(scope="module")
def stopped(federation: TlsFederation) -> Finished:
    """A run without clients, stopped while it is watched."""

    def stop() -> None:
        wait_until(lambda: federation.at_aggregator("GET", "/v1/runs/idle").status_code == 200)
        federation.at_aggregator("POST", "/v1/runs/idle/stop").raise_for_status()

    with ThreadPoolExecutor(1) as executor:
        stopping = executor.submit(stop)
        finished = federation.operator("deployment", "run", "--run", "idle", "--json")
    stopping.result()
    return finished


def test_a_run_that_is_stopped_is_no_success(stopped):
    assert stopped.returncode == 1
    said = json.loads(stopped.stdout)
    assert (said["run"], said["state"], said["rounds"]) == ("idle", "stopped", [])


@pytest.mark.usefixtures("stopped")
def test_other_options_under_the_same_name_are_a_conflict(federation):
    refused = federation.operator("deployment", "run", "--run", "idle", "--rounds", "3")
    assert refused.returncode == 3
    assert "there is a run idle already, made with other options: rounds.count" in refused.stderr
    assert "choose another name with --run" in refused.stderr
    assert "docker compose down -v" in refused.stderr


@pytest.mark.usefixtures("stopped")
def test_a_key_of_another_length_is_a_conflict(federation):
    refused = federation.operator("deployment", "run", "--key-bits", "1024")
    assert refused.returncode == 3
    assert "key demo is of paillier (key_bits 512), shared" in refused.stderr


class Notes(Silence):
    def __init__(self, then: Callable[[], object]) -> None:
        self.told: list[str] = []
        self._then = then

    def tell_note(self, note: str) -> None:
        self.told.append(note)
        if note == "resumed":
            self._then()


@pytest.mark.usefixtures("stopped")
def test_a_run_that_was_resumed_is_watched_past_its_old_stop(federation):
    async def scenario() -> tuple[RunStatus, list[str]]:
        folder = federation.folder / "operator"
        access = AsRunOperator(
            federation.aggregator.address, folder / "run-operator-token", folder / "ca.pem"
        )
        async with access.session() as operator:
            await operator.api.resume("idle", operator.token)
            view = Notes(lambda: federation.at_aggregator("POST", "/v1/runs/idle/stop"))
            status = await Watch(operator, "idle", view).until_over(or_stopped=True)
            return status, view.told

    status, told = asyncio.run(scenario())
    assert status.state is RunState.STOPPED
    assert [note.split(":")[0] for note in told] == ["stopped", "resumed", "stopped"]


@pytest.mark.usefixtures("stopped")
def test_a_token_that_is_of_no_use_is_replaced(federation):
    before = federation.token_file.read_text()
    unknown = before.replace("fpt1.", "fpt1.0")
    for useless in (unknown, "no token at all"):
        federation.token_file.write_text(useless)
        federation.operator("deployment", "run", "--run", "idle")
        minted = federation.token_file.read_text()
        assert minted.startswith("fpt1.")
        assert minted not in {before, unknown}


def test_only_the_deployments_own_authority_is_trusted(federation, tmp_path):
    Operator({}).succeeds("deployment", "prepare", str(tmp_path))
    stranger = federation.operator.instead(FEDPERM_CA_FILE=str(tmp_path / "operator/ca.pem"))
    refused = stranger("deployment", "run", "--wait-seconds", "0")
    assert refused.returncode == 4
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr

    async def ask_as_client() -> None:
        urls = federation.key_server.address, federation.aggregator.address
        async with connect(*urls, tmp_path / "client/ca.pem") as peers:
            await peers.key_server.identity()

    with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(ask_as_client())


def test_nobody_is_answered_without_tls(federation):
    for server in (federation.key_server, federation.aggregator):
        assert server.address.startswith("https://")
        with pytest.raises(httpx.TransportError):
            httpx.get(server.address.replace("https", "http") + "/readyz")


@pytest.mark.usefixtures("stopped")
def test_clients_that_come_later_get_a_new_token_for_an_hour(federation):
    """One command, with the variables of the operator's container."""
    before = federation.token_file.read_text()
    said = federation.operator.json("deployment", "token", "--token-uses", "3")
    assert (said["uses"], said["used"]) == (3, 0)
    assert 3500 < said["expires_at"] - time.time() <= 3600
    minted = federation.token_file.read_text()
    assert minted.startswith("fpt1.")
    assert minted != before
    assert stat.S_IMODE(federation.token_file.stat().st_mode) == 0o600
