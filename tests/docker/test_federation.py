"""From nothing to a finished run, as the README says: no file prepared, nothing edited."""

import json
import os
import re
import stat
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from fedperm.services import KEY_SERVER, SERVICES
from tests.docker.composed import ROOT, SECRETS, STATE, Composed
from tests.docs.shell_blocks import blocks

pytestmark = pytest.mark.docker

PORTS = {
    **{f"{service.name.upper()}_PORT": service.port for service in SERVICES.values()},
    "DASHBOARD_PORT": 8200,
}
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


def test_the_operators_page_is_reached_by_the_link_in_its_log(finished):
    (link,) = re.findall(r"http://127\.0\.0\.1:8200/\S+", finished.log("dashboard"))
    site, _, secret = link.partition("/dashboard/login#")
    with httpx.Client(base_url=site) as browser:
        form, origin = {"token": secret}, {"Origin": site}
        assert browser.post("/dashboard/login", data=form, headers=origin).status_code == 303
        with browser.stream("GET", "/dashboard/api/runs/demo/live") as stream:
            told = next(line for line in stream.iter_lines() if line.startswith("data: "))
    rounds = json.loads(told.removeprefix("data: "))["rounds"]
    assert [one["number"] for one in rounds] == [1, 2, 3]
    assert all(one["accuracy"] > 0 for one in rounds)


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


def execute(finished: Composed, script: str, folder: Path, **variables: str) -> str:
    """As it stands, in the repository's folder but for the files that it writes; what it says."""
    answer = subprocess.run(
        ["/bin/bash", "-euc", script],
        cwd=folder,
        env={
            **os.environ,
            "COMPOSE_FILE": str(ROOT / "docker-compose.yml"),
            "COMPOSE_ENV_FILES": str(finished.env_file),
            "COMPOSE_PROJECT_NAME": finished.project,
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_readmes_commands_answer(finished, tmp_path):
    text = (ROOT / "README.md").read_text()
    (script,) = re.findall(r"^```sh\n(docker compose cp.*?)^```", text, re.DOTALL | re.MULTILINE)
    said = execute(finished, script, tmp_path)
    assert '"state":"completed"' in said.replace(" ", "")


def test_backups_of_database_and_key_lie_apart_and_are_closed(finished, tmp_path):
    """docs/deployment.md's commands."""
    database, key = blocks("docs/deployment.md", "sh")
    (tmp_path / "medium").mkdir()
    execute(finished, database, tmp_path)
    execute(finished, key, tmp_path, KEY_MEDIUM=str(tmp_path / "medium"))
    backup, secret = (
        tmp_path / "backups/keyserver-state.tgz",
        tmp_path / "medium/key-encryption-key",
    )
    for file in (backup, secret):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700
    assert re.fullmatch("[0-9a-f]{64}", secret.read_text())
    with tarfile.open(backup) as archive:
        assert "./keyserver.db" in archive.getnames()
        assert not any("key-encryption-key" in name for name in archive.getnames())


def test_a_new_pool_of_places_is_one_command(finished, tmp_path):
    """docs/deployment.md's; in the file that clients read, for an hour."""
    (command,) = [b for b in blocks("docs/deployment.md") if "deployment token" in b]
    said = execute(finished, command, tmp_path)
    assert "in /run/client/enrolment-token, for 3 clients, good until" in said


def test_what_scrapes_reaches_one_server_and_nobody_else(finished):
    """From the networks that Prometheus is on; its image is not needed for that."""
    names = ("keyserver", "aggregator", "operator", "client", "postgres")
    program = (
        "import socket\n"
        f"for name in {names}:\n"
        "    try: print(name, socket.create_connection((name, {port}), 2) and '')\n"
        "    except OSError: pass"
    )
    for service in SERVICES.values():
        found = finished.docker.run(
            f"fedperm-{service.name}",
            ["-c", program.format(port=service.port)],
            entrypoint="python",
            networks=[f"{finished.project}_{service.name}-metrics"],
            remove=True,
        )
        assert str(found).split() == [service.name]


def test_containers_have_the_limits_that_compose_gives_them(finished):
    for name in ("init", "keyserver", "aggregator", "operator", "client"):
        host = finished.containers(name)[0].host_config
        assert host.memory >= 512 << 20, name
        assert 128 <= host.pids_limit <= 1024, name


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


EXISTING = {"key": "demo", "epoch": 1, "client": "client-1", "identifier": "x", "nonce": "0" * 32}


def _guarded(description: Any) -> list[tuple[str, str]]:
    """Every operation that wants a credential, of things that exist."""
    return [
        (method.upper(), path.format(**EXISTING))
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
