"""`fedperm client` against a real key server: tokens, clients, revocation."""

import stat

import pytest

from fedperm.wire.enrolment_token import parse_token
from fedperm.wire.key_server import ClientList, TokenList, TokenStatus
from fedperm_cli.client.pages import print_clients
from tests.cli.operator import Operator
from tests.cli.small_run import joined_client, make_run


@pytest.fixture
def key(operator: Operator, request: pytest.FixtureRequest) -> str:
    """A key of the test's own."""
    name = f"key-{abs(hash(request.node.name))}"
    operator.json("keys", "create", name, "--key-bits", "512")
    return name


def test_a_token_is_shown_once_and_listed_without_its_secret(operator: Operator, key: str) -> None:
    made = operator.json("client", "token", key, "--uses", "3", "--hours", "2")
    assert parse_token(made["token"]).id == made["status"]["id"]
    assert (made["status"]["uses"], made["status"]["used"], made["file"]) == (3, 0, None)
    said = operator.succeeds("client", "ls", key)
    row = next(line for line in said.splitlines() if made["status"]["id"] in line)
    assert "0 of 3" in row
    assert row.endswith("open")
    assert made["token"] not in said
    assert operator.json("client", "ls", key)["tokens"] == [made["status"]]


def test_a_token_goes_into_a_file_for_its_owners_eyes_only(
    operator: Operator, key: str, tmp_path
) -> None:
    file = tmp_path / "token"
    said = operator.succeeds("client", "token", key, "--name", "alice", "--output", str(file))
    token = file.read_text().strip()
    assert parse_token(token)
    assert token not in said
    assert "alice" in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = operator.json("client", "token", key, "--output", str(tmp_path / "other"))
    assert (other["token"], other["file"]) == (None, str(tmp_path / "other"))
    again = operator("client", "token", key, "--output", str(file))
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert file.read_text().strip() == token
    assert len(operator.json("client", "ls", key)["tokens"]) == 2


def test_no_token_is_made_that_cannot_be_kept(operator: Operator, key: str, tmp_path) -> None:
    finished = operator("client", "token", key, "--output", str(tmp_path / "none" / "token"))
    assert finished.returncode == 2
    assert "hint: choose another file" in finished.stderr
    assert operator.json("client", "ls", key)["tokens"] == []


def test_a_refused_token_leaves_no_file(operator: Operator, tmp_path) -> None:
    finished = operator("client", "token", "no-such-key", "--output", str(tmp_path / "token"))
    assert finished.returncode == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong", [("--uses", "2", "--name", "a"), ("--uses", "0"), ("--hours", "-1"), ("--name", "A")]
)
def test_impossible_tokens_are_refused(
    operator: Operator, key: str, wrong: tuple[str, ...]
) -> None:
    assert operator("client", "token", key, *wrong).returncode == 2
    assert operator.json("client", "ls", key)["tokens"] == []


def test_clients_are_listed_with_what_became_of_them(operator: Operator, tmp_path) -> None:
    run = make_run(operator, tmp_path, "listing", key="listing")
    with joined_client(operator, run, "listing") as client:
        name = client.me.name
    (listed,) = operator.json("client", "ls", "listing")["clients"]
    assert (listed["client"], listed["ordinal"], listed["revoked_at"]) == (name, 0, None)
    said = operator.succeeds("client", "revoke", "listing", name)
    assert f"client {name} is revoked; key listing has epoch 2" in said
    assert "fedperm run rekey RUN" in said
    assert f"fedperm run exclude RUN {name}" in said
    (listed,) = operator.json("client", "ls", "listing")["clients"]
    assert listed["revoked_at"] is not None


def test_a_revoked_client_is_out_of_the_named_runs_which_use_the_new_epoch(
    operator: Operator, tmp_path
) -> None:
    runs = [make_run(operator, tmp_path, f"leaving-{n}", key="leaving") for n in (1, 2)]
    with joined_client(operator, runs[0], "leaving") as client:
        name = client.me.name
    arguments = ("client", "revoke", "leaving", name, "--run", runs[0], "--run", runs[1])
    revoked = operator.json(*arguments)
    assert revoked["runs"] == [{"run": run, "epoch": 2, "brought": [2]} for run in runs]
    assert revoked["excluded"] == [runs[0]]
    (participant,) = operator.json("run", "show", runs[0])["participants"]
    assert participant["excluded"] is True
    said = operator.succeeds(*arguments)
    assert f"it is excluded from run {runs[0]}, which uses epoch 2" in said
    assert f"it had not joined run {runs[1]}" in said


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "open"),
        ({"used": 2}, "used up"),
        ({"expires_at": 50.0}, "expired"),
        ({"revoked": True, "used": 2}, "revoked"),
    ],
)
def test_a_token_is_listed_with_what_can_be_done_with_it(change, state, capsys) -> None:
    token = TokenStatus(id="t", uses=2, used=1, expires_at=150.0, revoked=False, client=None)
    tokens = TokenList(tokens=(token.model_copy(update=change),))
    print_clients(ClientList(clients=()), tokens, now=100.0)
    assert capsys.readouterr().out.splitlines()[-1].endswith(state)
