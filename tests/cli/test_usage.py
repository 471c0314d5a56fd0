"""Wrong input ends with exit code 2, a message and a hint; nobody sees a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

import fedperm as library
from tests.cli.command_line import SMALL_KEY, fedperm
from tests.cli.operator import Operator


def test_version() -> None:
    assert fedperm("--version").stdout == f"fedperm {library.__version__}\n"


def test_the_command_starts_without_what_only_some_commands_need() -> None:
    """Each of these takes a second or more to import."""
    code = "import sys, fedperm_cli.application; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"scipy", "torch", "matplotlib", "sklearn", "dp_accounting"}.isdisjoint(modules)


def test_help_lists_the_command() -> None:
    assert "bench" in fedperm("--help").stdout


def test_bench_help_names_every_option() -> None:
    text = fedperm("bench", "--help").stdout
    for option in ("--preset", "--k1", "--k2", "--d", "--clients", "--value-bits", "--key-bits",
                   "--processes", "--json", "--format", "--figures", "--values",
                   "--laplace-scale", "--insecure-test-key"):  # fmt: skip
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--key-bits", "512"), "a key of 512 bits"),
        (("--k1", "0"), "k1 is 0"),
        (("--clients", "0"), "clients is 0"),
        (("--value-bits", "99"), "value_bits is 99"),
        (("--processes", "0"), "0 worker processes"),
        (("--laplace-scale", "nan"), "the Laplace scale b is nan"),
        ((*SMALL_KEY, "--key-bits", "70"), "a test key of 70 bits"),
    ],
)
def test_impossible_parameters_are_refused_with_a_hint(
    arguments: tuple[str, ...], message: str
) -> None:
    finished = fedperm("bench", *arguments, "--json")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert f"error: {message}" in finished.stderr
    assert "hint: " in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    "arguments", [("--preset", "medium"), ("--k1", "many"), ("--no-such-option",)]
)
def test_unknown_words_are_refused_with_the_usage(arguments: tuple[str, ...]) -> None:
    finished = fedperm("bench", *arguments)
    assert finished.returncode == 2
    assert "Usage: fedperm bench" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("FEDPERM_KEYSEVER", "did you mean FEDPERM_KEYSERVER?"),
        ("FEDPERM_RUN_OPERATOR_TOKEN", "did you mean FEDPERM_RUN_OPERATOR_TOKEN_FILE?"),
        ("FEDPERM_FOO", "the known ones are FEDPERM_AGGREGATOR, FEDPERM_CA_FILE, "),
    ],
)
def test_a_misspelt_variable_is_refused(variable: str, hint: str) -> None:
    finished = Operator({variable: "value"})("bench", *SMALL_KEY)
    assert finished.returncode == 2
    assert f"error: unknown variables: {variable}\nhint: " in finished.stderr
    assert hint in finished.stderr


def test_variables_of_other_programs_are_their_own_affair() -> None:
    others = {"FEDPERM_CLIENT_RUN": "first", "FEDPERM_KEYSERVER_PORT": "0", "FEDPERM_DATA": "data"}
    assert Operator(others)("bench", "--help").returncode == 0


def test_figures_need_a_directory_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finished = fedperm("bench", *SMALL_KEY, "--figures", str(tmp_path / "file" / "below"))
    assert finished.returncode == 2
    assert "hint: choose another directory" in finished.stderr
