"""From nothing to a finished run, as the README says: no file prepared, nothing edited."""

import json
import os
import re
import subprocess
from typing import Any

import httpx
import pytest

from fedperm.services import KEY_SERVER, SERVICES
from tests.docker.composed import ROOT, SECRETS, STATE, Composed

pytestmark = pytest.mark.docker

PORTS = {f"{service.name.upper()}_PORT": service.port for service in SERVICES.values()}
"""The README's."""
CONNECT = """
import socket, sys
for address in {addresses}:
    try:
        socket.create_connection(tuple(address), 2).close()
    except OSError:
        continue
    print(address)
"""


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("federation")
    with Composed("fedperm-test", folder, {"ROUNDS": 3, **PORTS}) as federation:
        federation.up(clients=3)
        yield federation


@pytest.fixture(scope="module")
def finished(federation):
    assert federation.operator_exit_code() == 0, federation.log("operator")
    federation.docker.wait(federation.containers("client"))
    return federation


def test_the_operator_prints_the_summary(finished):
    said = finished.log("operator")
    assert re.search(r"round +3 ", said)
    assert "accuracy" in said
    assert "epsilon" in said


def test_all_clients_end_with_the_same_parameters(finished):
    summaries = [
        finished.read_json(client, f"{STATE}/summary.json")
        for client in finished.containers("client")
    ]
    assert len({summary["client"] for summary in summaries}) == 3
    assert {summary["rounds"] for summary in summaries} == {3}
    assert len({summary["parameters_sha256"] for summary in summaries}) == 1
    assert all(client.state.exit_code == 0 for client in finished.containers("client"))


def test_each_client_has_a_shard_of_its_own(finished):
    enrolled = [
        finished.read_json(client, f"{STATE}/enrolled.json")
        for client in finished.containers("client")
    ]
    assert sorted(client["ordinal"] for client in enrolled) == [0, 1, 2]


def test_the_readmes_commands_answer(finished, tmp_path):
    """Executed as they stand, in the repository's folder but for the file that they write."""
    text = (ROOT / "README.md").read_text()
    (script,) = re.findall(r"^```sh\n(docker compose cp.*?)^```", text, re.DOTALL | re.MULTILINE)
    answer = subprocess.run(
        ["/bin/bash", "-euc", script],
        cwd=tmp_path,
        env={
            **os.environ,
            "COMPOSE_FILE": str(ROOT / "docker-compose.yml"),
            "COMPOSE_PROJECT_NAME": finished.project,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    assert '"state":"completed"' in answer.stdout.replace(" ", "")


def test_the_aggregator_has_no_way_to_the_key_server(finished):
    """Not by name, not by address, not through the host; the same program from the key server's
    network gets through."""
    key_server = finished.container("keyserver").network_settings.networks
    gateways = finished.container("aggregator").network_settings.networks.values()
    addresses = [
        [KEY_SERVER.name, KEY_SERVER.port],
        *([network.ip_address, KEY_SERVER.port] for network in key_server.values()),
        *([network.gateway, KEY_SERVER.port] for network in gateways),
    ]
    program = CONNECT.format(addresses=json.dumps(addresses))
    assert finished.python(finished.container("aggregator"), program) == ""
    control = finished.docker.run(
        "fedperm-aggregator",
        ["-c", program],
        entrypoint="python",
        networks=[f"{finished.project}_keys"],
        remove=True,
    )
    assert str([KEY_SERVER.name, KEY_SERVER.port]) in str(control)


def test_nothing_the_aggregator_holds_opens_a_secret(finished):
    """Every file and variable it has is tried as a credential from the host, which has a way."""
    aggregator = finished.container("aggregator")
    held = json.loads(
        finished.python(
            aggregator,
            "import json, os, pathlib\n"
            f"files = [p.read_text() for p in pathlib.Path('{SECRETS}').iterdir()]\n"
            "print(json.dumps([t.strip() for t in [*files, *os.environ.values()]]))",
        )
    )
    credentials = [text for text in held if text and "\n" not in text and text.isascii()]
    assert len(credentials) > 3
    with finished.http(KEY_SERVER) as http:
        guarded = _guarded(http.get("/openapi.json").json())
        assert ("POST", "/v1/keys/demo/epochs/1/releases") in guarded
        for method, path in guarded:
            for credential in credentials:
                assert _status(http, method, path, credential) in {401, 403}, (method, path)
        operator = finished.read(finished.container("keyserver"), f"{SECRETS}/operator-token")
        assert _status(http, "GET", "/v1/audit", operator.decode()) == 200


def _guarded(description: Any) -> list[tuple[str, str]]:
    """Every operation that wants a credential, of things that exist."""
    return [
        (method.upper(), path.format(key="demo", epoch=1, client="client-1", identifier="x"))
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if operation.get("security")
    ]


def _status(http: httpx.Client, method: str, path: str, credential: str) -> int:
    headers = {"Authorization": f"Bearer {credential}"}
    body = {} if method == "POST" else None
    return http.request(method, path, headers=headers, json=body).status_code


def test_containers_can_write_only_where_they_must(finished):
    for service in ("keyserver", "aggregator"):
        container = finished.container(service)
        assert container.host_config.readonly_rootfs
        assert container.host_config.cap_drop == ["ALL"]
        assert finished.python(container, "import os; print(os.getuid())") == "10001"
        writable = finished.python(
            container,
            "import os\n"
            "print([p for p in ('/opt/fedperm', '/run/fedperm', '/') if os.access(p, os.W_OK)])",
        )
        assert writable == "[]"


def test_a_restarted_client_keeps_its_identity_and_a_new_one_enrols(finished):
    """The volume of a container is its identity."""
    first = finished.containers("client")[0]
    before = finished.read_json(first, f"{STATE}/enrolled.json")
    finished.docker.start(first)
    assert finished.docker.wait(first) == 0
    assert finished.read_json(first, f"{STATE}/enrolled.json") == before
    finished.docker.remove(first, volumes=True)
    finished.up(clients=3)
    clients = finished.containers("client")
    assert finished.docker.wait(clients) == [0, 0, 0]
    names = {finished.read_json(c, f"{STATE}/summary.json")["client"] for c in clients}
    assert len(names) == 3
    assert before["client"] not in names


def test_the_same_command_again_ends_as_before(finished):
    """The run is there already: the operator only says so."""
    finished.up(clients=3)
    assert finished.operator_exit_code() == 0
