"""Options from a file: below command line and environment, above defaults; nothing is ignored."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND, SMALL_KEY, fedperm, one_object
from tests.cli.operator import Finished, Operator

PLAN = ("plan", *SMALL_KEY, "--no-noise", "--json")
CONFIGURED = """
clients = 4

[plan]
d = 100
k1 = 8
no_choices = true
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "fedperm.toml"
    path.write_text(CONFIGURED)
    return path


def refused(path: Path, content: str) -> Finished:
    path.write_text(content)
    finished = fedperm("--config", str(path), *PLAN)
    assert finished.returncode == 2
    assert "hint: " in finished.stderr
    return finished


def test_a_file_says_what_is_not_given(config: Path) -> None:
    found = one_object("--config", str(config), *PLAN)
    assert (found["d"], found["k1"], found["clients"], found["rounds"]) == (100, 8, 4, 50)


def test_an_option_goes_before_the_file(config: Path) -> None:
    found = one_object("--config", str(config), *PLAN, "--k1", "16")
    assert (found["k1"], found["clients"]) == (16, 4)


def test_the_file_itself_may_be_named_by_a_variable(config: Path) -> None:
    assert Operator({"FEDPERM_CONFIG": str(config)})(*PLAN).returncode == 0


def test_a_variable_goes_before_the_file_and_an_option_before_both(tmp_path: Path) -> None:
    """Told apart by which is refused."""
    given = 'keyserver = "file"\nkey-operator-token-file = "token"\n'
    (tmp_path / "fedperm.toml").write_text(given)
    arguments = ("--config", str(tmp_path / "fedperm.toml"), "keys", "ls")
    variable = {"FEDPERM_KEYSERVER": "variable"}
    option = ("--keyserver", "option")
    assert "'file' is no address" in Operator({})(*arguments).stderr
    assert "'variable' is no address" in Operator(variable)(*arguments).stderr
    assert "'option' is no address" in Operator(variable)(*arguments, *option).stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[plan]\nkay1 = 4", "unknown keys: plan.kay1"),
        ("kay1 = 4", "unknown keys: kay1"),
        ("[plam]\nk1 = 4", "unknown keys: plam"),
        ("[run.made]\nk1 = 4", "unknown keys: run.made"),
        ("[run]\nk1 = 4", "unknown keys: run.k1"),
        ("[plan]\nhelp = true", "unknown keys: plan.help"),
        ("[plan\nk1 = 4", "is no TOML"),
    ],
)
def test_what_would_be_ignored_is_refused(config: Path, content: str, words: str) -> None:
    assert words in refused(config, content).stderr


def test_known_keys_are_named(config: Path) -> None:
    assert "k1, k2, key-bits" in refused(config, "[plan]\nkay1 = 4").stderr


@pytest.mark.parametrize(
    ("content", "words", "form"),
    [
        ('[plan]\nd = "many"', "plan.d = 'many'", "a whole number"),
        ("[plan]\nd = true", "plan.d = True", "a whole number"),
        ("k1 = 4.5", "k1 = 4.5", "a whole number"),
        ("[plan]\nk1 = [4]", "plan.k1 = [4]", "a whole number"),
        ('[plan]\nepsilon = "4"', "plan.epsilon = '4'", "a number"),
        ('[plan]\nno_choices = "yes"', "plan.no_choices = 'yes'", "true or false"),
        ("keyserver = 8441", "keyserver = 8441", "a text in quotes"),
        ("[run.create]\noption = [1]", "run.create.option = [1]", "quotes or a list of such"),
    ],
)
def test_a_value_of_another_type_is_refused(
    config: Path, content: str, words: str, form: str
) -> None:
    said = refused(config, content).stderr
    assert f"the configuration {config} says {words}" in said
    assert form in said


def test_one_value_stands_for_a_list(config: Path) -> None:
    config.write_text('keyserver = "http://127.0.0.1:1"\n[run.create]\noption = "model"')
    create = ("run", "create", "one", "--dry-run", "--key", "key", "--task", "digits")
    said = fedperm("--config", str(config), *create).stderr
    assert "--option model is not of the form NAME=VALUE" in said


@pytest.mark.parametrize("misplaced", [("--config", "file"), ("--config=file",)])
def test_the_file_is_named_before_the_command(misplaced: tuple[str, ...]) -> None:
    finished = fedperm("run", "ls", *misplaced)
    assert finished.returncode == 2
    assert "error: --config stands before the command\nhint: fedperm --config" in finished.stderr


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    finished = fedperm("--config", str(tmp_path / "none"), *PLAN)
    assert finished.returncode == 2
    assert "cannot be read" in finished.stderr


@pytest.mark.parametrize(
    ("typed", "words", "offered"),
    [
        ("fedperm pre", 1, "preflight"),
        ("fedperm run create --accou", 3, "--accountant"),
    ],
)
def test_a_shell_completes_what_is_typed(typed: str, words: int, offered: str) -> None:
    environment = {
        **os.environ,
        "_FEDPERM_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(words),
    }
    finished = subprocess.run(
        [str(COMMAND)], env=environment, capture_output=True, text=True, check=False
    )
    assert finished.stdout.split() == [offered]
