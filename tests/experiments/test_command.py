"""`python -m experiments.accuracy`: what cannot be asked for is refused before data are read."""

import sys

import pytest

from experiments.accuracy.__main__ import main


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
