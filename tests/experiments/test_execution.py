"""A plan that is stopped goes on where it was."""

from dataclasses import dataclass

import pytest
from rich.progress import Progress

from experiments.paper.comparison import compared
from experiments.paper.document import results_document
from experiments.paper.execution import (
    PROGRAM,
    execute,
    forget_other_code,
    forget_other_plans,
    missing,
)
from experiments.paper.origin import origin_here
from experiments.paper.progress import TimeLeft
from experiments.paper.records import COMMITTED, Origin, Record, ResultFile, read, write
from fedperm.errors import ParameterError, SettingsError
from fedperm.state_folder import sole_user


@dataclass(frozen=True)
class Counted:
    """Leaves a mark each time it is measured; fails while the way is blocked."""

    name: str
    can_fail: bool = False
    alone: bool = False
    part = "counted"
    settings = {"seed": 1}  # noqa: RUF012  a stand-in
    expected_seconds = 1.0

    def run(self, data):
        if self.can_fail and (data / "blocked").exists():
            raise RuntimeError("blocked")
        with (data / "marks").open("a") as marks:
            marks.write(self.name)
        return {"name": self.name}


PLAN = [Counted("z", alone=True), Counted("a"), Counted("b", can_fail=True)]


def test_what_is_measured_is_kept_at_once_and_not_measured_again(tmp_path):
    (tmp_path / "blocked").touch()
    with pytest.raises(RuntimeError, match="blocked"):
        execute(PLAN, tmp_path, tmp_path, 1, lambda _m, _r: None)
    assert [m.name for m in missing(PLAN, tmp_path)] == ["z", "b"]
    (tmp_path / "blocked").unlink()
    seen = []
    execute(
        missing(PLAN, tmp_path), tmp_path, tmp_path, 1, lambda m, r: seen.append((m.name, r.result))
    )
    assert seen == [("b", {"name": "b"}), ("z", {"name": "z"})]
    assert (tmp_path / "marks").read_text() == "abz"
    assert missing(PLAN, tmp_path) == []
    assert [record.name for record in read(tmp_path, "counted").records] == ["a", "b", "z"]


class BrokenPlanError(ParameterError):
    """Known in this module, as a worker's errors are in theirs."""


@dataclass(frozen=True)
class Refused(Counted):
    def run(self, data):
        del data
        raise BrokenPlanError("nothing to measure with", "bring something")


def test_an_error_of_a_worker_arrives_with_what_to_do(tmp_path):
    with pytest.raises(BrokenPlanError, match="nothing to measure with") as caught:
        execute([Refused("a")], tmp_path, tmp_path, 1, lambda _m, _r: None)
    assert caught.value.hint == "bring something"


def test_one_plan_at_a_time_writes_to_a_folder(tmp_path):
    with (
        sole_user(tmp_path, PROGRAM),
        pytest.raises(SettingsError, match=r"another experiments\.paper uses"),
    ):
        execute(PLAN[:1], tmp_path, tmp_path, 1, lambda _m, _r: None)


def test_what_other_code_measured_is_measured_again(tmp_path):
    write(tmp_path, kept(a=90.0))
    forget_other_code(PLAN, tmp_path)
    assert read(tmp_path, "counted").records == []
    mine = origin_here("made up")
    write(tmp_path, kept(a=90.0).with_record(kept(b=80.0).records[0], mine))
    forget_other_code(PLAN, tmp_path)
    assert [record.name for record in read(tmp_path, "counted").records] == ["b"]
    assert read(tmp_path, "counted").origins == [mine]


def test_what_is_no_longer_planned_is_dropped(tmp_path):
    write(tmp_path, kept(a=90.0, taken_out=80.0))
    forget_other_plans(PLAN, tmp_path)
    assert [record.name for record in read(tmp_path, "counted").records] == ["a"]


def kept(**accuracies: float) -> ResultFile:
    origin = Origin(commit="abc", command="", cores=2, processor="Abacus", versions={})
    records = [
        Record(
            name=name,
            settings={"seed": 1},
            result={"accuracy": accuracy},
            finished_at="",
            cpu_seconds=1.0,
            origin=0,
        )
        for name, accuracy in accuracies.items()
    ]
    return ResultFile(part="counted", origins=[origin], records=records)


def test_what_was_measured_again_is_compared_with_what_is_committed():
    found = compared(kept(a=90.0, b=80.5, c=70.0, new=1.0), kept(a=90.0, b=80.25, c=70.125))
    assert found is not None
    assert (found.figures, found.equal, found.largest, found.name) == (3, 1, 0.25, "b")
    assert "the largest difference is 0.25 points, of b" in found.in_words
    same = compared(kept(a=90.0), kept(a=90.0))
    assert same is not None
    assert same.in_words == "1 of 1 accuracies are those that are committed"


def test_nothing_is_compared_under_other_settings():
    other = kept(a=90.0)
    other = other.model_copy(
        update={"records": [other.records[0].model_copy(update={"settings": {"seed": 2}})]}
    )
    assert compared(kept(a=90.0), other) is None


def test_the_time_left_is_at_the_pace_so_far():
    """A quarter of the expected work took 50 s, so all of it takes 200; 20 s later 130 are left."""
    progress = Progress(TimeLeft(), get_time=lambda: 70.0)
    progress.add_task("", total=400, completed=100, pace=0.5)
    (task,) = progress.tasks
    task.start_time = 0.0
    assert TimeLeft().render(task).plain == "0:02:10"
    task.fields["pace"] = None
    assert TimeLeft().render(task).plain == "-:--:--"


def test_what_was_measured_elsewhere_says_so(tmp_path):
    words = results_document(tmp_path, [40])
    assert "Measured again, from the files beside it, seeds 40" in words
    assert "Measured again, from" not in results_document(COMMITTED, [40])
