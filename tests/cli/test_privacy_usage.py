"""Wrong input to `fedperm privacy`: exit code 2, a message, a hint, and nothing on stdout."""

from pathlib import Path

import pytest

from fedperm.privacy.registry import ACCOUNTANTS
from tests.cli.command_line import SMALL_ROUND, fedperm, privacy_report

ONE_OF = "give exactly one of --epsilon, --laplace-scale and --record-epsilon"
TRAINING = "--clip-norm-record, --learning-rate, --clip, --records"
STEP = (
    *("--clip-norm-record", "2", "--learning-rate", "3"),
    *("--clip", "0.01", "--records", "2000"),
)
NAMES = ", ".join(accountant.name for accountant in ACCOUNTANTS)


def test_help_names_every_option_and_accountant() -> None:
    assert "privacy" in fedperm("--help").stdout
    text = fedperm("privacy", "--help").stdout
    for option in ("--preset", "--d", "--k1", "--k2", "--rounds", "--delta", "--epsilon",
                   "--laplace-scale", "--record-epsilon", "--accountant", "--clip-norm-record",
                   "--learning-rate", "--clip", "--records", "--format", "--json",
                   "--figures"):  # fmt: skip
        assert f"{option} " in text
    for accountant in ACCOUNTANTS:
        assert accountant.name in text


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ((), "there is nothing to say how much noise is added", ONE_OF),
        (
            ("--epsilon", "4", "--laplace-scale", "9"),
            "the noise is asked for in more than one way",
            ONE_OF,
        ),
        (
            ("--record-epsilon", "2"),
            "--record-epsilon needs to know how the client trains",
            f"also give {TRAINING}",
        ),
        (
            ("--epsilon", "4", "--clip", "0.01", "--records", "2000"),
            "the record level also needs --clip-norm-record, --learning-rate",
            f"give {TRAINING} together, or none of them",
        ),
        (
            ("--epsilon", "4", "--accountant", "nonsense"),
            "there is no accountant 'nonsense'",
            f"choose one of: {NAMES}",
        ),
        (
            ("--laplace-scale", "5", "--accountant", "paper"),
            "the paper's theorem 3 needs epsilon_w <= 1.5",
            "",
        ),
        (("--laplace-scale", "nan"), "the Laplace scale b is nan", "choose b between"),
        (("--laplace-scale", "1e-9"), "the Laplace scale b is 1e-09", "choose b between"),
        (("--laplace-scale", "50", "--k2", "0"), "k2 is 0", ""),
        (("--epsilon", "4", "--format", "markdown"), "--json and --format markdown", "give only"),
        (("--epsilon", "4", "--format", "text"), "--json and --format text", "give only"),
    ],
)
def test_impossible_parameters_are_refused_with_a_hint(
    arguments: tuple[str, ...], message: str, hint: str
) -> None:
    finished = fedperm("privacy", *arguments, "--json")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert f"error: {message}" in finished.stderr
    assert f"hint: {hint}" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("option", ["--epsilon", "--record-epsilon"])
@pytest.mark.parametrize("wrong", ["inf", "nan", "0", "-1"])
def test_an_impossible_epsilon_is_refused_by_its_option(option: str, wrong: str) -> None:
    finished = fedperm("privacy", option, wrong, *STEP)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert f"error: {option} is {wrong}\n" in finished.stderr
    assert "hint: choose a positive, finite epsilon" in finished.stderr


@pytest.mark.parametrize("wrong", ["0", "1", "-0.5", "2", "nan", "inf"])
def test_an_impossible_delta_is_refused_by_its_option(wrong: str) -> None:
    finished = fedperm("privacy", "--laplace-scale", "50", "--delta", wrong)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert f"error: --delta is {wrong}\n" in finished.stderr
    assert "hint: choose delta between 0 and 1" in finished.stderr


def test_bench_refuses_contradicting_formats_too() -> None:
    finished = fedperm("bench", *SMALL_ROUND, "--json", "--format", "text")
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert "error: --json and --format text contradict each other" in finished.stderr


def test_format_json_may_be_said_twice() -> None:
    arguments = ("--laplace-scale", "50", "--accountant", "no-shuffle-rdp", "--format", "json")
    assert privacy_report(*arguments)["accountant"] == "no-shuffle-rdp"


def test_an_unknown_format_is_refused_with_the_usage() -> None:
    finished = fedperm("privacy", "--epsilon", "4", "--format", "xml")
    assert finished.returncode == 2
    assert "Usage: fedperm privacy" in finished.stderr


def test_figures_need_a_directory_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finished = fedperm("privacy", "--figures", str(tmp_path / "file" / "below"))
    assert finished.returncode == 2
    assert "hint: choose another directory" in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "ignored"),
    [
        (
            ("--accountant", "bogus", "--k1", "7", "--delta", "1e-9", "--json"),
            "--k1, --delta, --accountant, --json",
        ),
        (("--preset", "light", "--rounds", "50"), "--preset, --rounds"),
        (STEP, TRAINING),
        (("--format", "text"), "--format"),
    ],
)
def test_figures_alone_refuse_what_they_would_ignore(
    tmp_path: Path, arguments: tuple[str, ...], ignored: str
) -> None:
    finished = fedperm("privacy", "--figures", str(tmp_path / "out"), *arguments)
    assert finished.returncode == 2
    assert f"error: without noise, --figures would ignore {ignored}\n" in finished.stderr
    assert f"hint: {ONE_OF}" in finished.stderr
    assert not (tmp_path / "out").exists()
