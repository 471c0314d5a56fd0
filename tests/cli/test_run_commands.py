"""`fedperm run` against real servers: making, reading and steering runs."""

import hashlib
import json
import sys

import httpx
import pytest

from fedperm.run_document import DOCUMENT_SIGNATURE, FrozenDocument
from fedperm.services import AGGREGATOR
from tests.cli.operator import Operator
from tests.cli.servers import Servers
from tests.cli.small_run import FinishedRun, joined_client, make_run, write_run

DIGITS = (
    *("--task", "digits", "--option", "model=logistic", "--clients", "3", "--rounds", "2"),
    *("--learning-rate", "3", "--k1", "130", "--k2", "5", "--clip", "0.1"),
    *("--laplace-scale", "1", "--accountant", "no-shuffle-rdp", "--insecure-test-key"),
)


def with_key(operator: Operator, key: str) -> tuple[str, ...]:
    operator.json("keys", "create", key, "--key-bits", "512")
    return ("--key", key)


def stored(servers: Servers, path: str) -> httpx.Response:
    token = servers.folder.operator_token(AGGREGATOR).read_text()
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{servers.aggregator.address}/v1/runs/{path}", headers=headers)


def test_a_run_is_made_from_options_and_again_changes_nothing(
    operator: Operator, servers: Servers
) -> None:
    key = with_key(operator, "made")
    first = operator.json("run", "create", "made", *key, *DIGITS)
    assert operator.json("run", "create", "made", *key, *DIGITS)["document"] == first["document"]
    octets = stored(servers, "made/document").content
    assert hashlib.sha256(octets).hexdigest() == first["document"]
    content = FrozenDocument(octets).content
    assert content.model.parameters == 650
    assert content.task.options == {"model": "logistic"}
    model = stored(servers, "made/initial-model").content
    assert hashlib.sha256(model).hexdigest() == content.model.initial_sha256
    assert len(stored(servers, "made/key-epochs").json()["epochs"]) == 1
    assert first["status"]["state"] == "waiting"
    assert first["privacy"]["rows"]["paper_unit"]["epsilon"] > 0
    assert len(first["reasons"]) == 4
    assert "a sum may be of 3 clients only: any 2 together" in first["warnings"][0]
    assert first["average_noise"]["in_a_round"] > 0


def test_a_run_cannot_become_another(operator: Operator) -> None:
    key = with_key(operator, "firm")
    operator.json("run", "create", "firm", *key, *DIGITS)
    finished = operator("run", "create", "firm", *key, *DIGITS, "--rounds", "3")
    assert finished.returncode == 3
    assert "hint: " in finished.stderr


def test_all_epochs_of_the_key_come_with_the_run(operator: Operator, servers: Servers) -> None:
    key = with_key(operator, "thrice")
    for _ in range(2):
        operator.json("keys", "rotate", "thrice")
    operator.json("run", "create", "thrice", *key, *DIGITS)
    assert len(stored(servers, "thrice/key-epochs").json()["epochs"]) == 3


def test_people_see_the_hash_the_plan_and_every_row_of_the_privacy_report(
    operator: Operator,
) -> None:
    key = with_key(operator, "readable")
    said = operator.succeeds("run", "create", "readable", *key, *DIGITS)
    assert operator.json("run", "show", "readable")["status"]["document"] in said
    for words in ("geometry: 650 parameters", "values: ", "slots: ", "buckets: ", "  noise: "):
        assert words in said
    for row in range(1, 10):
        assert f"\n{row}. " in said
    assert "fedperm run watch readable" in said
    assert not any(line.endswith(" ") for line in said.splitlines())


def test_a_dry_run_prints_the_document_and_sends_nothing(operator: Operator) -> None:
    key = with_key(operator, "dry")
    nobody = operator.without("FEDPERM_AGGREGATOR", "FEDPERM_RUN_OPERATOR_TOKEN_FILE")
    printed = nobody.succeeds("run", "create", "dry", *key, *DIGITS, "--dry-run")
    assert FrozenDocument(printed.encode()).content.run == "dry"
    assert operator("run", "show", "dry").returncode == 3


def test_what_a_dry_run_kept_is_what_would_have_been_sent(operator: Operator, tmp_path) -> None:
    key, file = with_key(operator, "kept"), tmp_path / "kept.json"
    dry = operator.json("run", "create", "kept", *key, *DIGITS, "--dry-run", "--output", str(file))
    assert dry["status"] is None
    assert hashlib.sha256(file.read_bytes()).hexdigest() == dry["document"]
    model = file.with_suffix(".safetensors")
    files = ("--document", str(file), "--initial-model", str(model))
    assert operator.json("run", "create", "kept", *files)["document"] == dry["document"]
    assert operator.json("run", "create", "kept", *key, *DIGITS)["document"] == dry["document"]


OWN_TASK = """
from torch import nn

class Points:
    def __init__(self, context): pass
    def model(self): return nn.Linear(3, 2)
    def training_data(self): raise NotImplementedError
    def test_data(self): return None
    def loss(self, outputs, targets): raise NotImplementedError
"""


def test_an_own_task_is_named_by_its_class_and_not_by_its_file(
    operator: Operator, tmp_path
) -> None:
    (tmp_path / "points.py").write_text(OWN_TASK)
    key, task = with_key(operator, "own"), ("--task", f"{tmp_path / 'points.py'}:Points")
    printed = operator.succeeds("run", "create", "own", *key, *DIGITS, *task, "--dry-run")
    content = FrozenDocument(printed.encode()).content
    assert (content.task.name, content.model.parameters) == ("Points", 8)
    assert str(tmp_path) not in printed


def test_a_document_takes_nothing_beside_it(operator: Operator, tmp_path) -> None:
    document, model = write_run(operator, tmp_path, "alone", key="alone")
    files = ("--document", str(document), "--initial-model", str(model))
    finished = operator("run", "create", "alone", *files, "--k1", "9", "--rounds", "2")
    assert finished.returncode == 2
    assert "would ignore --rounds, --k1" in finished.stderr
    assert operator("run", "create", "alone", *files[:2]).returncode == 2
    assert "is the document of run alone" in operator("run", "create", "other", *files).stderr
    model.write_bytes(b"another")
    assert "is not the initial model of" in operator("run", "create", "alone", *files).stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--key", "x"), "needs --task"),
        (("--key", "x", *DIGITS, "--epsilon", "4"), "not said in exactly one way"),
        (("--key", "x", *DIGITS, "--option", "odd"), "--option odd is not of the form"),
        (("--key", "x", *DIGITS, "--k1", "0"), "impossible options: k1: "),
        (DIGITS, "needs --key"),
    ],
)
def test_wrong_options_are_refused_before_a_server_is_asked(
    operator: Operator, change: tuple[str, ...], message: str
) -> None:
    away = operator.instead(FEDPERM_KEYSERVER="http://127.0.0.1:1")
    finished = away("run", "create", "wrong", *change)
    assert finished.returncode == 2
    assert f"{message}" in finished.stderr
    assert finished.stdout == ""


def test_a_short_key_needs_the_switch(operator: Operator) -> None:
    key = with_key(operator, "short")
    finished = operator("run", "create", "short", *key, *DIGITS[:-1])
    assert finished.returncode == 2
    assert "a key of 512 bits" in finished.stderr


def test_runs_are_listed_stopped_and_resumed(operator: Operator, tmp_path) -> None:
    run = make_run(operator, tmp_path, "steered", key="steered")
    names = [status["run"] for status in operator.json("run", "ls")["runs"]]
    assert run in names
    assert "steered  " in operator.succeeds("run", "ls")
    assert operator.json("run", "stop", run)["state"] == "stopped"
    assert "stopped" in operator.succeeds("run", "stop", run)
    assert operator.json("run", "resume", run)["state"] == "waiting"


def test_a_run_is_shown_with_its_clients_and_rounds(
    operator: Operator, finished_run: FinishedRun
) -> None:
    run, clients = finished_run.run, finished_run.clients
    overview = operator.json("run", "show", run)
    assert overview["status"]["state"] == "completed"
    assert ["may be of 2 clients only" in warning for warning in overview["warnings"]] == [True]
    assert {p["client"] for p in overview["participants"]} == set(clients)
    assert [r["outcome"]["state"] for r in overview["rounds"]] == ["published", "published"]
    said = operator.succeeds("run", "show", run)
    assert "warning: a sum may be of 2 clients only" in said
    row = next(line for line in said.splitlines() if line.split()[:1] == ["2"])
    assert row.split()[:7] == ["2", "published", "2", "2", "0", "75.0%", "0.500"]
    assert "2 kB" in row
    assert all(client in said for client in clients)


def test_a_client_is_excluded(operator: Operator, tmp_path) -> None:
    run = make_run(operator, tmp_path, "excluding", key="excluding")
    with joined_client(operator, run, "excluding") as client:
        name = client.me.name
    assert operator.json("run", "exclude", run, name)["excluded"] is True
    said = operator.succeeds("run", "show", run)
    assert "excluded" in next(line for line in said.splitlines() if name in line)


def test_a_finished_document_is_signed_by_the_operator_whom_it_names(
    operator: Operator, servers: Servers, tmp_path
) -> None:
    document, model = write_run(operator, tmp_path, "signed", key="signed")
    files = ("--document", str(document), "--initial-model", str(model))
    somebody = operator.instead(FEDPERM_RUN_OPERATOR_KEY_FILE=str(tmp_path / "another.json"))
    finished = somebody("run", "create", "signed", *files)
    assert finished.returncode == 2
    assert "signed names another operator" in finished.stderr
    assert operator.identity.keys.fingerprint in finished.stderr
    assert stored(servers, "signed").status_code == 404
    operator.json("run", "create", "signed", *files)
    signature = stored(servers, "signed/document").headers[DOCUMENT_SIGNATURE]
    FrozenDocument(document.read_bytes(), signature).check_signature()


def test_a_run_that_cannot_be_made_leaves_no_key_file(operator: Operator, tmp_path) -> None:
    careful = operator.instead(FEDPERM_RUN_OPERATOR_KEY_FILE=str(tmp_path / "keys.json"))
    assert careful("run", "create", "none", "--key", "none").returncode == 2
    assert not (tmp_path / "keys.json").exists()


def test_another_key_server_is_not_trusted_with_the_runs_key(operator: Operator, tmp_path) -> None:
    """A document that names another signing key gets no epochs from here."""
    document, model = write_run(operator, tmp_path, "foreign", key="foreign")
    content = json.loads(document.read_text())
    content["key"]["signing_key"] = "B" * 42 + "A"
    document.write_text(json.dumps(content))
    files = ("--document", str(document), "--initial-model", str(model))
    finished = operator("run", "create", "foreign", *files)
    assert finished.returncode == 1
    assert "not signed by the key server of the run's document" in finished.stderr


def test_without_the_clients_code_the_operator_is_told_what_to_install(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = with_key(operator, "bare")
    monkeypatch.setitem(sys.modules, "fedperm_client.initial_model", None)
    finished = operator("run", "create", "bare", *key, *DIGITS)
    assert finished.returncode == 2
    assert "hint: pip install 'fedperm-cli[tasks]'" in finished.stderr
