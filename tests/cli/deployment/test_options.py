"""The options of `fedperm deployment run`, most of all where a compose file gives them."""

from pathlib import Path

import pytest

from fedperm_cli.deployment.options import Dataset, OperationOptions, run_options
from fedperm_cli.errors import OptionsError
from fedperm_cli.run.specs import rounds_of
from tests.cli.operator import Operator

NOWHERE = {
    "FEDPERM_KEYSERVER": "https://127.0.0.1:9",
    "FEDPERM_AGGREGATOR": "https://127.0.0.1:9",
    "FEDPERM_OPERATOR_TOKEN_FILE": "enrolment-token",
    "FEDPERM_OPERATOR_WAIT_SECONDS": "0",
}
NAMES = ("RUN", "KEY", "ROUNDS", "DATASET", "ALPHA", "SEED", "K1", "K2", "EPSILON", "NO_NOISE",
         "LEARNING_RATE", "CLIP", "CLIP_NORM_RECORD", "KEY_BITS", "SHARDS", "MOST_CLIENTS",
         "QUORUM", "START_WITH", "DEADLINE_SECONDS", "EXTENSION_SECONDS", "PARAMETERS", "DATA",
         "TOKEN_USES", "INSECURE_TEST_KEY", "TASK", "OPTION")  # fmt: skip


@pytest.fixture
def operator(tmp_path) -> Operator:
    """Of servers that are not there: whatever is refused earlier, is refused by the options."""
    (tmp_path / "token").write_text("0" * 32)
    files = ("FEDPERM_KEY_OPERATOR_TOKEN_FILE", "FEDPERM_RUN_OPERATOR_TOKEN_FILE")
    return Operator({**NOWHERE, **dict.fromkeys(files, str(tmp_path / "token"))})


def test_blank_variables_are_defaults(operator):
    blank = {f"FEDPERM_OPERATOR_{name}": "" for name in NAMES}
    assert operator.instead(**blank)("deployment", "run").returncode == 4
    refused = operator.instead(**{**blank, "FEDPERM_OPERATOR_QUORUM": "21"})("deployment", "run")
    assert refused.returncode == 2
    assert "error: a sum needs 21 clients, and a round asks 20" in refused.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("MOST_CLIENTS", "2", "a sum needs 3 clients, and a round asks 2"),
        ("MOST_CLIENTS", "1", "a sum needs 3 clients, and a round asks 1"),
        ("START_WITH", "2", "start_with is less than min_contributors"),
        ("KEY_BITS", "512", "a key of 512 bits"),
        ("K1", "0", "impossible options: k1"),
        ("EPSILON", "-1", "--epsilon is -1"),
        ("ROUND", "3", "unknown variables: FEDPERM_OPERATOR_ROUND"),
        ("OPTION", "a=1", "--option is for a task of your own"),
    ],
)
def test_what_is_impossible_is_refused_before_a_server_is_asked(operator, variable, value, words):
    refused = operator.instead(**{f"FEDPERM_OPERATOR_{variable}": value})("deployment", "run")
    assert refused.returncode == 2
    assert words in refused.stderr


@pytest.mark.parametrize(
    ("variable", "value"), [("DATASET", "cats"), ("RUN", "Not A Name"), ("NO_NOISE", "perhaps")]
)
def test_values_that_are_none_are_refused_with_the_usage(operator, variable, value):
    refused = operator.instead(**{f"FEDPERM_OPERATOR_{variable}": value})("deployment", "run")
    assert refused.returncode == 2
    assert "Usage: fedperm deployment run" in refused.stderr


def options(**given: object) -> OperationOptions:
    return OperationOptions(token_file=Path("token"), **given)


def test_clients_that_are_drawn_and_needed():
    rounds = rounds_of(run_options(options(), min_records=1))
    assert (rounds.clients_per_round, rounds.min_contributors, rounds.start_with) == (20, 3, 3)
    assert (rounds.deadline_seconds, rounds.extension_seconds) == (60.0, 30.0)
    given = options(shards=20, most_clients=15, quorum=4, start_with=6, extension_seconds=5.0)
    rounds = rounds_of(run_options(given, min_records=1))
    assert (rounds.clients_per_round, rounds.min_contributors, rounds.start_with) == (15, 4, 6)
    assert rounds.extension_seconds == 5.0


def test_every_task_knows_how_many_shards_there_are():
    assert "shards=5" in run_options(options(), min_records=1).option
    wanted = run_options(options(dataset=Dataset.SYNTHETIC, shards=30), min_records=1)
    assert set(wanted.option) == {"parameters=7850", "shards=30"}


@pytest.mark.parametrize(
    ("given", "k1"), [({}, 400), ({"parameters": 16}, 16), ({"parameters": 16, "k1": 8}, 8)]
)
def test_no_window_is_larger_than_a_small_vector(given, k1):
    wanted = run_options(options(dataset=Dataset.SYNTHETIC, **given), min_records=1)
    assert (wanted.k1, wanted.k2, wanted.clip, wanted.learning_rate) == (k1, 1, 1.0, 1.0)
    assert wanted.clip_norm_record is None


def test_without_noise_there_is_no_epsilon():
    assert run_options(options(), min_records=1).epsilon == 4.0
    without = run_options(options(no_noise=True), min_records=1)
    assert (without.epsilon, without.no_noise) == (None, True)


OWN = {"task": "/tasks/mine.py:Mine", "k1": 22, "learning_rate": 1.0, "clip": 0.03}


def test_a_task_of_ones_own_is_run_instead_of_a_data_set():
    wanted = run_options(options(**OWN, shards=3, option=["depth=2"]), min_records=7)
    assert (wanted.task, wanted.option) == ("/tasks/mine.py:Mine", ["shards=3", "depth=2"])
    assert (wanted.k1, wanted.k2, wanted.clip_norm_record) == (22, 1, None)
    with pytest.raises(OptionsError, match="has no recipe"):
        run_options(options(task="/tasks/mine.py:Mine"), min_records=7)


def test_a_variable_holds_several_options_of_a_task(operator):
    own = {f"FEDPERM_OPERATOR_{name}".upper(): str(value) for name, value in OWN.items()}
    given = operator.instead(**own, FEDPERM_OPERATOR_OPTION="depth=2 depth=3")
    assert "option depth is given twice" in given("deployment", "run").stderr
