"""`fedperm privacy`: the documented keys, the paper's noise, and the record level by hand."""

from math import exp, log, log1p
from typing import Any

import pytest

from tests.cli.command_line import fedperm, privacy_report

SUPERWINDOW_KEYS = {"epsilon", "delta", "parameters", "bound"}
ROW_KEYS = {
    "paper_unit": SUPERWINDOW_KEYS,
    "permutation_known": SUPERWINDOW_KEYS,
    "smaller": SUPERWINDOW_KEYS,
    "whole_update_pure": {"per_round", "total"},
    "whole_update": {"epsilon", "delta"},
    "record": {"rho", "epsilon", "delta", "records"},
}
KEYS = {
    "accountant",
    "experimental",
    "laplace_scale",
    "epsilon_wd",
    "epsilon_w",
    "rows",
    "against",
    "notes",
}
TRAINING = (
    *("--clip-norm-record", "2", "--learning-rate", "3"),
    *("--clip", "0.01", "--records", "2000"),
)
CHEAP = ("--accountant", "no-shuffle-rdp")


@pytest.fixture(scope="module")
def default() -> dict[str, Any]:
    """Light at (4, 1e-5) over 50 rounds, by the default accountant, and the design note's step."""
    return privacy_report("--epsilon", "4", *TRAINING)


def test_has_exactly_the_documented_keys(default: dict[str, Any]) -> None:
    assert set(default) == KEYS
    assert {name: set(row) for name, row in default["rows"].items()} == ROW_KEYS


def test_the_default_is_published_and_keeps_the_target(default: dict[str, Any]) -> None:
    assert default["accountant"] == "default"
    assert default["experimental"] is False
    assert default["rows"]["paper_unit"]["parameters"] == 20
    assert 3.99 < default["rows"]["paper_unit"]["epsilon"] <= 4


def test_epsilon_and_laplace_scale_are_inverse_to_each_other(default: dict[str, Any]) -> None:
    assert privacy_report("--laplace-scale", str(default["laplace_scale"]), *TRAINING) == default


@pytest.mark.parametrize(
    ("accountant", "preset", "scale", "tolerance"),
    [
        ("paper", "light", 50.95, 0.005),
        ("paper", "heavy", 17.38, 0.005),
        ("no-shuffle-rdp", "light", 36.38, 0.01),
        ("no-shuffle-rdp", "heavy", 25.63, 0.01),
    ],
)
def test_the_noise_that_the_design_note_states(
    accountant: str, preset: str, scale: float, tolerance: float
) -> None:
    report = privacy_report("--preset", preset, "--accountant", accountant, "--epsilon", "4")
    assert report["laplace_scale"] == pytest.approx(scale, rel=tolerance)
    assert report["rows"]["paper_unit"]["epsilon"] == pytest.approx(4, rel=1e-3)
    assert report["epsilon_wd"] == pytest.approx(1 / report["laplace_scale"])
    assert report["rows"]["record"] is None


def test_options_name_the_whole_run() -> None:
    run = ("--d", "100", "--k1", "8", "--k2", "2", "--rounds", "3", "--delta", "1e-6")
    report = privacy_report(*run, "--laplace-scale", "8", *CHEAP)
    rows = report["rows"]
    assert report["epsilon_w"] == 7 / 8  # 13 windows of 8 in 2 patterns: superwindows of 7
    assert rows["paper_unit"]["parameters"] == 2 * 7
    assert rows["paper_unit"]["delta"] == 1e-6
    assert rows["whole_update_pure"]["total"] == pytest.approx(3 * 104 / 8)


def test_the_record_level_is_what_one_computes_by_hand() -> None:
    report = privacy_report("--laplace-scale", "4.76", *TRAINING, *CHEAP)
    sensitivity = 3 * 2 / (2000 * 0.01)
    steepness = 256 * (exp(1 / (4.76 * 256)) - 1)
    rho = 50 * (sensitivity * steepness) ** 2 / 2
    record = report["rows"]["record"]
    assert record["rho"] == pytest.approx(rho, rel=1e-5)
    assert record["epsilon"] == pytest.approx(from_rho(rho, 1e-5), rel=1e-4)
    assert record["epsilon"] == pytest.approx(1.9, rel=0.01)  # as the design note has it


def from_rho(rho: float, delta: float) -> float:
    """Canonne, Kamath, Steinke (2020), Proposition 12, at thousands of orders alpha."""
    orders = (1 + step / 100 for step in range(1, 10_000))
    return min(
        rho * alpha + (log(1 / delta) - log(alpha)) / (alpha - 1) + log1p(-1 / alpha)
        for alpha in orders
    )


def test_noise_can_be_asked_for_by_the_record_level() -> None:
    report = privacy_report("--record-epsilon", "1.9", *TRAINING, *CHEAP)
    assert report["laplace_scale"] == pytest.approx(4.76, rel=0.01)
    assert report["rows"]["record"]["epsilon"] == pytest.approx(1.9, rel=1e-6)
    assert report["rows"]["record"]["epsilon"] <= 1.9


def test_markdown_has_nine_rows() -> None:
    finished = fedperm("privacy", "--laplace-scale", "50", *CHEAP, "--format", "markdown")
    assert finished.returncode == 0
    assert finished.stderr == ""
    numbers = [line.split("|")[1].strip() for line in finished.stdout.splitlines()[4:]]
    assert numbers == [str(number) for number in range(1, 10)]


def test_text_has_nine_rows_and_an_experimental_accountant_is_flagged() -> None:
    finished = fedperm("privacy", "--accountant", "blanket-pld", "--laplace-scale", "8")
    assert finished.returncode == 0
    assert "warning: blanket-pld is EXPERIMENTAL" in finished.stderr
    heading, *lines = finished.stdout.splitlines()
    assert heading == "Privacy of one client (accountant blanket-pld, EXPERIMENTAL)"
    numbers = [line.split(".")[0] for line in lines if line[:1].isdigit()]
    assert numbers == [str(number) for number in range(1, 10)]
