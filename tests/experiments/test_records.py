"""Result files: what was measured stays, whole, with the code and the machine that made it."""

from dataclasses import dataclass

import pytest

from experiments.paper.records import Origin, Record, ResultFile, read, write
from fedperm.errors import ParameterError

HERE = Origin(commit="abc", command="make", cores=2, processor="none", versions={"numpy": "2"})
THERE = HERE.model_copy(update={"commit": "def"})


@dataclass(frozen=True)
class Asked:
    name: str
    settings: dict


def record(name, accuracy, **settings):
    return Record(
        name=name,
        settings=settings,
        result={"accuracy": accuracy},
        finished_at="2026-01-01T00:00:00Z",
        cpu_seconds=1.0,
        origin=0,
    )


def filled():
    empty = ResultFile(part="accuracy")
    return empty.with_record(record("b", 1.0, seed=1), HERE).with_record(
        record("a", 2.0, seed=1), THERE
    )


def test_a_file_is_read_as_it_was_written(tmp_path):
    write(tmp_path, filled())
    assert read(tmp_path, "accuracy") == filled()
    assert [path.name for path in tmp_path.iterdir()] == ["accuracy.json"]


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "accuracy.json").write_text('{"part": "accuracy", "records": [')
    with pytest.raises(ParameterError, match=r"accuracy\.json is damaged") as caught:
        read(tmp_path, "accuracy")
    assert "remove it to measure anew" in caught.value.hint


def test_a_missing_file_holds_nothing(tmp_path):
    assert read(tmp_path, "accuracy").records == ()


def test_every_record_keeps_its_own_origin():
    assert [(r.name, filled().origin_of(r).commit) for r in filled().records] == [
        ("a", "def"),
        ("b", "abc"),
    ]


def test_a_new_record_takes_the_place_of_the_old_one_and_of_its_origin():
    again = filled().with_record(record("b", 3.0, seed=1), THERE)
    assert [(r.name, r.result["accuracy"]) for r in again.records] == [("a", 2.0), ("b", 3.0)]
    assert again.origins == [THERE]


def test_what_was_measured_under_other_settings_is_measured_again():
    assert filled().holds(Asked("a", {"seed": 1}))
    assert not filled().holds(Asked("a", {"seed": 2}))
    assert not filled().holds(Asked("c", {"seed": 1}))
