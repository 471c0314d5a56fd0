"""`make simulate`: a seed repeats what it did, what fails is told with its seed, and zeros are not
told where nothing was tried."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation import __main__ as command
from tests.simulation.batches import Batch, run_batch
from tests.simulation.report import page
from tests.simulation.tally import Tally

FOREVER = float("inf")


@pytest.fixture(autouse=True)
def _logging_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(command, "OUTPUT", tmp_path / "out" / "simulation.json")
    yield
    logging.disable(logging.NOTSET)


def batch() -> Batch:
    return run_batch(7, FOREVER, sequences=1, operations=2)


def test_the_same_seed_does_the_same():
    first, second = batch(), batch()
    assert first == second
    assert first.failure == ""
    assert first.tally.sequences == 1
    assert first.tally.rounds["published"] >= 1
    assert "lost            0" in page(first.tally, 1.0)


def test_what_fails_is_told_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    tally = Tally(sequences=1)
    tally.failures["double"] += 1
    failed = Batch(7, tally, "double: round 1")
    monkeypatch.setattr(command, "run_batch", lambda *_given, **_options: failed)
    assert command.main(["--seed", "7"]) == 1
    printed = capsys.readouterr().out
    assert "double          1" in printed
    assert "double: round 1" in printed
    assert "run it again by: python -m tests.simulation --seed 7" in printed
    saved = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert saved["failed_seeds"] == [7]
    assert saved["failures"] == {"double": 1}


def test_where_nothing_was_tried_nothing_is_shown(capsys: pytest.CaptureFixture[str]):
    assert command.main(["--seconds", "0", "--processes", "1"]) == 1
    assert "nothing was tried" in capsys.readouterr().out


def test_figures_of_batches_are_added_up():
    tally = Tally(operations=2)
    tally.faults["late request"] += 1
    tally.add(tally)
    assert (tally.operations, tally.faults) == (4, {"late request": 2})
