"""`fedperm preflight`: everything looked at, every failure with a way out, nothing changed."""

import json
import time
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fedperm_cli.preflight.findings import State
from fedperm_cli.preflight.machine import available_memory, look_at_disk, look_at_memory
from tests.cli.operator import Finished, Operator
from tests.cli.servers import Servers
from tests.cli.small_run import make_run

NOWHERE = "http://127.0.0.1:1"
FEW = "clients in a sum"


def findings(finished: Finished) -> dict[str, dict[str, Any]]:
    document = json.loads(finished.stdout)
    assert document["well"] == (finished.returncode == 0)
    return {finding["check"]: finding for finding in document["findings"]}


def states(finished: Finished) -> dict[str, str]:
    return {check: finding["state"] for check, finding in findings(finished).items()}


@pytest.fixture(scope="module")
def run(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_run(operator, tmp_path_factory.mktemp("preflight"), "preflight", key="preflight")


def test_all_is_well_with_two_servers_and_a_run(operator: Operator, run: str) -> None:
    finished = operator("preflight", "--run", run, "--json")
    assert finished.returncode == 0
    assert {check for check, state in states(finished).items() if state != "good"} == {FEW}
    assert list(states(finished)) == [
        *("key server", "clock of the key server", "aggregator", "clock of the aggregator"),
        *("token", "run", FEW, "key", "disk", "memory", "dry round"),
    ]
    found = findings(finished)
    key = operator.json("keys", "ls")["keys"]
    (fingerprint,) = [one["key_id"] for one in key if one["key"] == run]
    assert fingerprint[:16] in found["key"]["words"]
    assert "the same at both servers" in found["key"]["words"]
    assert "512 bits" in found["dry round"]["words"]
    assert "a client needs about" in found["memory"]["words"]
    assert found[FEW]["state"] == "warning"
    assert "may be of 2 clients only: each can subtract" in found[FEW]["words"]
    assert "all is well, as far as 11 checks can tell, but for 1 warning" in operator.succeeds(
        "preflight", "--run", run
    )


def test_people_are_told_what_was_left_out(operator: Operator) -> None:
    """A client's owner has no operator's token."""
    owner = operator.without("FEDPERM_RUN_OPERATOR_TOKEN_FILE", "FEDPERM_KEY_OPERATOR_TOKEN_FILE")
    finished = owner("preflight")
    assert finished.returncode == 0
    assert "all is well, as far as 7 checks can tell" in finished.stdout
    assert "-> give --run, --aggregator and --run-operator-token-file" in finished.stdout


def test_servers_that_are_away_fail_and_the_rest_is_still_looked_at(operator: Operator) -> None:
    away = operator.instead(FEDPERM_KEYSERVER=NOWHERE, FEDPERM_AGGREGATOR=NOWHERE)
    finished = away("preflight", "--key", "any", "--json")
    assert finished.returncode == 1
    assert states(finished) == {
        "key server": "failed",
        "aggregator": "failed",
        "token": "skipped",
        "run": "skipped",
        FEW: "skipped",
        "key": "failed",
        "disk": "good",
        "memory": "good",
        "dry round": "good",
    }
    assert "check the address" in findings(finished)["aggregator"]["hint"]


def test_servers_that_were_mixed_up_are_noticed(operator: Operator) -> None:
    mixed = operator.instead(
        FEDPERM_KEYSERVER=operator.environment["FEDPERM_AGGREGATOR"],
        FEDPERM_AGGREGATOR=operator.environment["FEDPERM_KEYSERVER"],
    )
    finished = mixed("preflight", "--json")
    assert finished.returncode == 1
    found = findings(finished)
    assert "correct --keyserver" in found["key server"]["hint"]
    assert "correct --aggregator" in found["aggregator"]["hint"]


@pytest.mark.parametrize(
    ("token_file", "token"),
    [(None, "skipped"), ("missing", "failed"), ("key-operator-token", "failed")],
)
def test_a_run_that_nobody_can_look_at_fails_and_the_rest_is_still_looked_at(
    operator: Operator, servers: Servers, run: str, token_file: str | None, token: str
) -> None:
    """Without a token, with a file that is not there, with somebody else's token."""
    variable = "FEDPERM_RUN_OPERATOR_TOKEN_FILE"
    given = {} if token_file is None else {variable: str(servers.folder.secrets / token_file)}
    finished = operator.without(variable).instead(**given)("preflight", "--run", run, "--json")
    assert finished.returncode == 1
    found = states(finished)
    assert (found["token"], found["run"], found["key"]) == (token, "failed", "skipped")
    assert found["dry round"] == "good"


def test_a_run_that_does_not_exist_fails(operator: Operator) -> None:
    finished = operator("preflight", "--run", "nowhere", "--json")
    assert finished.returncode == 1
    assert findings(finished)["run"]["state"] == "failed"


def test_a_key_that_the_run_does_not_have_yet_fails_with_the_command_that_brings_it(
    operator: Operator, tmp_path: Path
) -> None:
    run = make_run(operator, tmp_path, "old-key", key="old-key")
    operator.json("keys", "rotate", "old-key")
    finished = operator("preflight", "--run", run, "--json")
    assert finished.returncode == 1
    found = findings(finished)["key"]
    assert "uses epoch 1" in found["words"]
    assert "newest is 2" in found["words"]
    assert found["hint"] == f"fedperm run rekey {run}"
    operator.json("run", "rekey", run)
    assert operator("preflight", "--run", run).returncode == 0


def test_without_a_server_there_is_nothing_to_ask() -> None:
    finished = Operator({})("preflight")
    assert finished.returncode == 2
    assert "no server to ask" in finished.stderr


class OtherTime(BaseHTTPRequestHandler):
    """Speaks as a key server whose clock is two minutes ahead."""

    def do_GET(self) -> None:
        version = {"service": "keyserver", "version": "0.1.0", "protocol": "fedperm/3"}
        body = json.dumps(version if self.path == "/version" else {"status": "ok"}).encode()
        self.send_response_only(200)
        self.send_header("Date", formatdate(self.server.now, usegmt=True))  # type: ignore[attr-defined]
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def ahead() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherTime) as server:
        server.now = time.time() + 120  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_clock_that_is_wrong_fails(ahead: str) -> None:
    finished = Operator({"FEDPERM_KEYSERVER": ahead})("preflight", "--json")
    assert finished.returncode == 1
    found = findings(finished)["clock of the key server"]
    assert found["state"] == "failed"
    assert "ahead of this one" in found["words"]
    assert "NTP" in found["hint"]


def test_too_little_room_fails(tmp_path: Path) -> None:
    assert look_at_disk(tmp_path / "not" / "yet", 1).state is State.GOOD
    assert look_at_disk(tmp_path, 1 << 60).state is State.FAILED
    assert look_at_memory(10, 9).state is State.FAILED
    assert look_at_memory(10, 11).state is State.GOOD
    assert look_at_memory(10, None).state is State.SKIPPED
    assert (available_memory() or 0) > 1 << 20
