"""`fedperm init-task` and `check-task`: a file to begin with, and what is wrong with one's own."""

from pathlib import Path

import pytest

from tests.cli.command_line import fedperm, one_object

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def starting_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "mine.py"
    written = one_object("init-task", str(path), "--json")
    assert written == {"file": str(path), "task": f"{path}:MyTask"}
    return path


def test_the_starting_file_passes_the_check(starting_file: Path) -> None:
    found = one_object("check-task", f"{starting_file}:MyTask", "--json")
    assert found["parameters"] == 6
    assert (found["constants"], found["unprotected"]) == (0, None)
    assert (found["records"], found["test_records"]) == (200, 200)
    assert 0 <= found["test_accuracy"] <= 1
    assert found["tensors"] == [
        {"name": "weight", "shape": [2, 2]},
        {"name": "bias", "shape": [2]},
    ]


def test_the_starting_file_names_itself(starting_file: Path) -> None:
    assert f"fedperm check-task {starting_file}:MyTask" in starting_file.read_text()


def test_no_file_is_written_over(starting_file: Path) -> None:
    before = starting_file.read_text()
    finished = fedperm("init-task", str(starting_file))
    assert finished.returncode == 2
    assert "is there already" in finished.stderr
    assert starting_file.read_text() == before


@pytest.mark.parametrize("path", ["mine", "mine.txt", "no/such/folder/mine.py"])
def test_what_cannot_be_a_task_is_not_written(path: str, tmp_path: Path) -> None:
    finished = fedperm("init-task", str(tmp_path / path))
    assert finished.returncode == 2
    assert "hint: choose" in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_example_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the variable that clients have as well."""
    monkeypatch.setenv("FEDPERM_TASK", f"{EXAMPLES / 'last_layer.py'}:FineTuned")
    said = fedperm("check-task", "--shards", "3").stdout
    assert "650 parameters (d) in 1.weight [10, 64], 1.bias [10]" in said
    assert "66,112 values, the same at every client" in said
    assert "479 in this part" in said
    assert "fedperm plan --d 650" in said
    assert "--clip-norm-record can protect single records" in said


def test_what_cannot_be_protected_is_said(starting_file: Path, tmp_path: Path) -> None:
    norm = "nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False), nn.Linear(2, 2))"
    text = starting_file.read_text().replace("nn.Linear(2, 2)", norm)
    (tmp_path / "mine.py").write_text(text)
    found = one_object("check-task", f"{tmp_path / 'mine.py'}:MyTask", "--json")
    assert "mixes all examples of a batch" in found["unprotected"]


@pytest.mark.parametrize(
    ("change", "problem", "way_out"),
    [
        (("nn.Linear(2, 2)", "nn.Linear(3, 2)"), "cannot be trained on the first", "shapes"),
        (("return points(200, seed=0)", "return open('x')"), "FileNotFoundError", "mine.py, line"),
        (("def loss", "def lost"), "has no loss", "a task has model"),
        (("nn.Linear(2, 2)", "nn.BatchNorm1d(2)"), "buffer running_mean", "GroupNorm"),
    ],
)
def test_what_is_wrong_is_said_with_a_way_out(
    starting_file: Path, tmp_path: Path, change: tuple[str, str], problem: str, way_out: str
) -> None:
    text = starting_file.read_text()
    assert change[0] in text
    (tmp_path / "mine.py").write_text(text.replace(*change))
    finished = fedperm("check-task", f"{tmp_path / 'mine.py'}:MyTask")
    assert finished.returncode == 2
    assert problem in finished.stderr
    assert way_out in finished.stderr.partition("hint: ")[2]


def test_a_part_that_does_not_exist_is_refused(starting_file: Path) -> None:
    finished = fedperm("check-task", f"{starting_file}:MyTask", "--shard", "2", "--shards", "2")
    assert finished.returncode == 2
    assert "no part 2 of 2" in finished.stderr
