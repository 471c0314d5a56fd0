"""From a name to a task."""

import sys
from pathlib import Path

import pytest

from fedperm_client.errors import TaskError
from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.loading import make_task, task_of_run
from fedperm_client.tasks.shards import context_of
from tests.client.documents import document
from tests.tasks.contexts import context

HERE = Path(__file__).parent
OWN = f"{HERE / 'own_task.py'}:Lines"


def test_a_built_in_task_is_found_by_its_name():
    assert isinstance(make_task("digits", context()), Digits)


def test_an_own_task_is_loaded_from_its_file():
    task = make_task(OWN, context({"count": 5}, shard=3, shards=4))
    assert type(task).__name__ == "Lines"
    assert len(task.training_data()) == 5
    assert float(task.training_data().targets[0]) == 1.0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("flowers", "there is no task flowers"),
        (str(HERE / "own_task.py"), "there is no task"),
        (f"{HERE / 'nowhere.py'}:Lines", "there is no file .*nowhere.py"),
        (f"{HERE / 'own_task.py'}:Circles", "has no class Circles"),
        (f"{HERE / 'broken_task.py'}:Lines", "RuntimeError: no such data base"),
        (f"{HERE / 'own_task.py'}:Contextless", "cannot be made"),
        (f"{HERE / 'own_task.py'}:Unfinished", "has no training_data, test_data, loss"),
    ],
)
def test_what_is_no_task_is_refused(name, problem):
    with pytest.raises(TaskError, match=problem) as refusal:
        make_task(name, context())
    assert refusal.value.hint


SPLIT = """
from sibling import Lines as Base

class Lines(Base):
    def test_data(self):
        from younger import nothing
        return nothing
"""


def test_a_task_may_be_split_over_files_of_one_folder(tmp_path, monkeypatch):
    """Also where a function of it imports one later; and nobody else's module is hidden by them."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "sibling.py").write_text((HERE / "own_task.py").read_text())
    (tmp_path / "younger.py").write_text("import pytest\nnothing = None if pytest.raises else 1")
    (tmp_path / "pytest.py").write_text("raises = None")
    (tmp_path / "mine.py").write_text(SPLIT)
    task = make_task(f"{tmp_path / 'mine.py'}:Lines", context())
    assert task.test_data() is None
    assert sys.path[-1] == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem", "way_out"),
    [
        ("import numpy\nimport nowhere", "ModuleNotFoundError", "put nowhere.py beside mine.py"),
        ("import numpy\nx = 1 / 0", "ZeroDivisionError", "correct it"),
        ("import sys\nsys.exit(3)", "SystemExit: 3", "correct it"),
        ("class Lines:\n  def __init__(self, _): raise SystemExit(3)", "SystemExit", "correct it"),
    ],
)
def test_an_error_while_it_is_loaded_is_told_with_its_line(tmp_path, text, problem, way_out):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(TaskError, match=problem) as refusal:
        make_task(f"{tmp_path / 'mine.py'}:Lines", context())
    assert way_out in refusal.value.hint
    assert refusal.value.hint.endswith("mine.py, line 2")


def test_a_runs_document_cannot_name_a_file():
    with pytest.raises(TaskError, match="is not built in") as refusal:
        task_of_run(OWN, None, context())
    assert "FEDPERM_TASK" in refusal.value.hint


def test_the_clients_own_task_goes_before_the_documents():
    assert type(task_of_run("lines", OWN, context())).__name__ == "Lines"
    assert type(task_of_run("digits", OWN, context())).__name__ == "Lines"
    assert isinstance(task_of_run("digits", None, context()), Digits)


def test_the_number_of_shards_is_no_option_of_the_tasks_own():
    assert make_task("digits", context({"shards": 5, "hidden": 7})).options.hidden == 7


@pytest.mark.parametrize(
    ("options", "setting", "ordinal", "expected"),
    [
        ({}, None, 4, (1, 3)),
        ({"shards": 5}, None, 4, (4, 5)),
        ({"shards": 5}, None, 7, (2, 5)),
        ({"shards": 5}, 0, 4, (0, 5)),
    ],
)
def test_a_clients_shard_is_its_own_choice_or_follows_from_its_enrolment(
    options, setting, ordinal, expected
):
    content = document(task={"name": "digits", "options": options})
    given = context_of(content, Path("data"), setting, ordinal)
    assert (given.shard, given.shards) == expected


@pytest.mark.parametrize("shards", [0, -1, 2.0, "3", True])
def test_a_wrong_number_of_shards_is_refused(shards):
    content = document(task={"name": "digits", "options": {"shards": shards}})
    with pytest.raises(TaskError, match=f"option shards is {shards}"):
        context_of(content, Path("data"), None, 0)
