"""What is said of a run, and of one that could not be judged."""

import json

from tests.chaos.report import Report
from tests.chaos.verdict import Verdict

FIGURES = {"seed": 7, "seconds": 1.0, "kills": {"client": 2}, "faults": {}, "requests": 9}
CLEAN = Verdict(lost=(), double=(), second_releases=(), split=())


def text(report: Report) -> str:
    return "\n".join(report.lines())


def test_zeros_are_told_by_a_judge(tmp_path):
    report = Report(
        **FIGURES, uploads_acknowledged=3, rounds_published=1, rounds_aborted=0, verdict=CLEAN
    )
    assert report.is_clean
    for line in ("lost             0", "second releases  0", "1 published, 0 aborted"):
        assert line in text(report)
    report.write(tmp_path / "out" / "chaos.json")
    assert json.loads((tmp_path / "out" / "chaos.json").read_text())["verdict"]["lost"] == []


def test_what_gave_up_is_not_judged_and_not_clean(tmp_path):
    report = Report(**FIGURES, uploads_acknowledged=3, gave_up="client-1 ended")
    assert not report.is_clean
    assert text(report).count("not judged") == 5
    assert "gave up          client-1 ended" in text(report)
    report.write(tmp_path / "chaos.json")
    assert json.loads((tmp_path / "chaos.json").read_text())["verdict"] is None


def test_what_was_found_is_not_clean():
    found = Verdict(lost=("ada lacks 1",), double=(), second_releases=(), split=())
    report = Report(
        **FIGURES, uploads_acknowledged=3, rounds_published=1, rounds_aborted=0, verdict=found
    )
    assert not report.is_clean
    assert "lost             1; ada lacks 1" in text(report)
