"""`python -m experiments.accuracy`: what it prints, and what it refuses before data are read."""

import json
import sys

import pytest

from experiments.accuracy.__main__ import main
from experiments.accuracy.images import Digits
from fedperm_client.tasks.filters import FilterName
from tests.experiments.noisy_images import images


def refused(monkeypatch, capsys, tmp_path, *arguments):
    """What it says; there are no images at all."""
    given = [*arguments, "--seeds", "20", "--data", str(tmp_path / "nowhere")]
    monkeypatch.setattr(sys, "argv", ["experiments.accuracy", *given])
    assert main() == 1
    assert not (tmp_path / "nowhere").exists()
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--algorithm", "cdp", "--record-epsilon", "2"], "no noise for one record", "--epsilon"),
        (["--algorithm", "ldp", "--epsilon", "0"], "epsilon is 0.0", "positive"),
        (["--algorithm", "cdp", "--epsilon", "-1"], "epsilon is -1.0", "positive"),
        (["--algorithm", "fedperm", "--epsilon", "nan"], "epsilon is nan", "positive"),
        (["--algorithm", "fedperm", "--epsilon", "inf"], "epsilon is inf", "positive"),
        (["--algorithm", "fedperm"], "without an epsilon", "--record-epsilon"),
        (["--algorithm", "fedavg", "--accountant", "mine"], "no accountant 'mine'", "clones-pld"),
    ],
)
def test_what_cannot_be_asked_for(monkeypatch, capsys, tmp_path, arguments, message, hint):
    said = refused(monkeypatch, capsys, tmp_path, *arguments)
    assert message in said
    assert hint in said


@pytest.mark.parametrize("seeds", [["-1"], ["20", "21", "20"]])
def test_seeds_are_different_and_not_negative(monkeypatch, capsys, seeds):
    given = ["--algorithm", "fedavg", "--seeds", *seeds, "--data", "nowhere"]
    monkeypatch.setattr(sys, "argv", ["experiments.accuracy", *given])
    assert main() == 1
    assert "different whole numbers from 0 on" in capsys.readouterr().err


def printed(monkeypatch, capsys, *arguments):
    """On a few small images; and which filter it asked for."""
    filters = []

    def few(_data, filter_name):
        filters.append(filter_name)
        return Digits(images(600, seed=1), images(100, seed=2))

    monkeypatch.setattr("experiments.accuracy.__main__.test_digits", few)
    monkeypatch.setattr(sys, "argv", ["experiments.accuracy", *arguments, "--json"])
    assert main() == 0
    return json.loads(capsys.readouterr().out), filters


def test_it_prints_one_line_of_json(monkeypatch, capsys):
    asked = ["--algorithm", "fedperm", "--setting", "light", "--accountant", "default"]
    result, filters = printed(monkeypatch, capsys, *asked, "--epsilon", "4", "--seeds", "1", "2")
    assert filters == [FilterName.ORIENTATIONS]
    assert result["seeds"] == [1, 2]
    assert result["laplace_scale"] == pytest.approx(11.36, abs=0.01)  # as docs/privacy.md has it
    first, second = (seed["accuracy"] for seed in result["by_seed"])
    assert result["accuracy_mean"] == pytest.approx((first + second) / 2)
    assert result["accuracy_std"] == pytest.approx(abs(first - second) / 2**0.5)
    assert 3.99 < result["privacy"]["paper_unit"] <= 4.0
    assert result["privacy"]["whole_update"] > 1000


def test_raw_pixels_can_be_asked_for(monkeypatch, capsys):
    asked = ["--algorithm", "fedavg", "--filter", "none", "--seeds", "1"]
    result, filters = printed(monkeypatch, capsys, *asked)
    assert filters == [FilterName.NONE]
    assert result["laplace_scale"] is None
    assert result["accuracy_mean"] > 90
