"""`fedperm keys` against a real key server, and a real aggregator where runs are rekeyed."""

import pytest

from tests.cli.operator import Operator
from tests.cli.small_run import make_run

SHORT = ("--key-bits", "512")


def test_a_key_is_made_once(operator: Operator) -> None:
    first = operator.json("keys", "create", "made-once", *SHORT)
    assert (first["key"], first["scheme"]["parameters"]) == ("made-once", {"key_bits": 512})
    assert (first["keys"], first["latest_epoch"]) == ("shared", 1)
    assert operator.json("keys", "create", "made-once", *SHORT) == first
    assert first["key_id"] in operator.succeeds("keys", "create", "made-once", *SHORT)


def test_a_key_does_not_change_its_length(operator: Operator) -> None:
    operator.json("keys", "create", "of-512-bits", *SHORT)
    finished = operator("keys", "create", "of-512-bits", "--key-bits", "640")
    assert finished.returncode == 3
    assert "error: key of-512-bits is of paillier (key_bits 512), shared" in finished.stderr
    assert "hint: " in finished.stderr


def test_keys_are_listed(operator: Operator) -> None:
    made = operator.json("keys", "create", "listed", *SHORT)
    assert made in operator.json("keys", "ls")["keys"]
    row = next(line for line in operator.succeeds("keys", "ls").splitlines() if "listed" in line)
    shown = "listed paillier (key_bits 512) shared 1 " + made["key_id"][:16]
    assert " ".join(row.split()).startswith(shown)


def test_a_rotation_makes_the_next_epoch_and_says_what_remains(operator: Operator) -> None:
    made = operator.json("keys", "create", "rotated", *SHORT)
    rotation = operator.json("keys", "rotate", "rotated")
    assert (rotation["key"], rotation["epoch"], rotation["runs"]) == ("rotated", 2, [])
    assert rotation["key_id"] != made["key_id"]
    said = operator.succeeds("keys", "rotate", "rotated")
    assert "key rotated has epoch 3" in said
    assert "fedperm run rekey RUN" in said


def test_a_rotation_reaches_the_runs_that_are_named(operator: Operator, tmp_path) -> None:
    runs = [make_run(operator, tmp_path, f"rotated-{number}", key="shared") for number in (1, 2)]
    rotation = operator.json("keys", "rotate", "shared", "--run", runs[0], "--run", runs[1])
    assert rotation["runs"] == [{"run": run, "epoch": 2, "brought": [2]} for run in runs]
    assert operator.json("run", "show", runs[0])["status"]["epoch"] == 2


def test_a_run_gets_every_epoch_that_it_missed(operator: Operator, tmp_path) -> None:
    run = make_run(operator, tmp_path, "missed-two", key="missed")
    operator.json("keys", "rotate", "missed")
    operator.json("keys", "rotate", "missed")
    nobody = operator.without("FEDPERM_KEY_OPERATOR_TOKEN_FILE")
    assert nobody.json("run", "rekey", run) == {"run": run, "epoch": 3, "brought": [2, 3]}
    assert nobody.json("run", "rekey", run) == {"run": run, "epoch": 3, "brought": []}
    assert "has key epoch 3 (new: none)" in nobody.succeeds("run", "rekey", run)


def test_an_old_epoch_is_destroyed_and_the_newest_is_not(operator: Operator) -> None:
    operator.json("keys", "create", "destroyed", *SHORT)
    finished = operator("keys", "destroy", "destroyed", "--epoch", "1")
    assert finished.returncode == 3
    assert "epoch 1 is the newest of key destroyed" in finished.stderr
    operator.json("keys", "rotate", "destroyed")
    gone = operator.json("keys", "destroy", "destroyed", "--epoch", "1")
    assert (gone["key"], gone["epoch"]) == ("destroyed", 1)
    assert operator.json("keys", "destroy", "destroyed", "--epoch", "1") == gone
    said = operator.succeeds("keys", "destroy", "destroyed", "--epoch", "1")
    assert "the secret key of epoch 1 of key destroyed was destroyed" in said
    assert "backups" in said


def test_no_epoch_is_made_if_the_run_could_not_get_it(operator: Operator) -> None:
    operator.json("keys", "create", "not-rotated", *SHORT)
    alone = operator.without("FEDPERM_RUN_OPERATOR_TOKEN_FILE")
    finished = alone("keys", "rotate", "not-rotated", "--run", "any")
    assert finished.returncode == 2
    assert "hint: also give --aggregator and --run-operator-token-file" in finished.stderr
    assert operator.json("keys", "create", "not-rotated", *SHORT)["latest_epoch"] == 1


@pytest.mark.parametrize("name", ["../x", "A", "a b", "a" * 64, "-a", ""])
def test_a_wrong_name_is_refused_before_a_server_is_asked(operator: Operator, name: str) -> None:
    finished = operator.instead(FEDPERM_KEYSERVER="http://127.0.0.1:1")(
        "keys", "create", "--", name
    )
    assert finished.returncode == 2
    assert "inner hyphens" in finished.stderr
