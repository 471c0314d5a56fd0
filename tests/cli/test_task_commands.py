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
    assert (found["constants"], found["unprotected"], found["warnings"]) == (0, None, [])
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
    weighted = "cross_entropy(outputs, targets, weight=torch.tensor([1.0, 9.0]))"
    text = starting_file.read_text().replace("cross_entropy(outputs, targets)", weighted)
    (tmp_path / "mine.py").write_text(text)
    found = one_object("check-task", f"{tmp_path / 'mine.py'}:MyTask", "--json")
    assert "weights cancel out" in found["unprotected"]


REGRETTABLE = {
    "return nn.Linear(2, 2)": """model = nn.Linear(2, 2)
        model.spare = nn.Parameter(torch.zeros(100_000))
        return model""",
    "return points(200, seed=0)": """private = points(200, seed=1)
        return Examples(private.inputs[:150], private.targets[:150])""",
}


def test_what_may_be_regretted_is_said(starting_file: Path, tmp_path: Path) -> None:
    text = starting_file.read_text()
    for part, instead in REGRETTABLE.items():
        assert part in text
        text = text.replace(part, instead)
    (tmp_path / "mine.py").write_text(text)
    said = fedperm("check-task", f"{tmp_path / 'mine.py'}:MyTask").stdout
    assert "the loss does not depend on spare" in said
    assert "100,006 parameters are many" in said
    assert "150 records of this part are test records as well" in said


@pytest.mark.parametrize(
    ("change", "problem", "way_out"),
    [
        (("nn.Linear(2, 2)", "nn.Linear(3, 2)"), "cannot be trained on 16", "shapes"),
        (("return points(200, seed=0)", "return open('x')"), "FileNotFoundError", "mine.py, line"),
        (("def loss", "def lost"), "has no loss", "a task has model"),
        (("nn.Linear(2, 2)", "nn.BatchNorm1d(2)"), "is a BatchNorm1d", "GroupNorm"),
        (("seed=0", "seed=self.context.shard"), "other records each time", "fixed seed"),
        (("seed=0", "seed=1"), "gives the records of training_data()", "or None"),
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
