"""What must be the same everywhere is compared with what another client would have."""

from pathlib import Path

import pytest

from fedperm_cli.task.starting_file import write_starting_file
from fedperm_client.errors import TaskError
from fedperm_client.tasks.loading import make_task
from fedperm_client.training.other_client import check_is_same_elsewhere
from fedperm_client.training.records import public_records
from fedperm_client.training.task_check import checked_model
from tests.tasks.contexts import context

TEST_SEED, MODEL = "points(200, seed=0)", "nn.Linear(2, 2)"


def compare(folder: Path, *change: str) -> None:
    """As `check-task` does."""
    file = folder / "mine.py"
    name = write_starting_file(file).task
    file.write_text(file.read_text().replace(*change))
    task = make_task(name, context())
    check_is_same_elsewhere(name, context(), checked_model(task), public_records(task))


CONSTANT = """nn.Linear(2, 2)
        model.register_buffer("part", torch.tensor(self.context.shard))
        return model"""


@pytest.mark.parametrize(
    ("part", "instead", "problem"),
    [
        (TEST_SEED, "points(200, seed=self.context.shard)", "other records each time, or to each"),
        (TEST_SEED, "points(200, seed=torch.seed() % 2**32)", "other records each time"),
        (TEST_SEED, "points(200, seed=0) if self.context.shard else None", "other records"),
        (MODEL, "nn.Linear(2, 2 + self.context.shard)", r"weight \[2, 2\] is weight \[3, 2\]"),
        (f"return {MODEL}", f"model = {CONSTANT}", "frozen parameters or buffers are others"),
    ],
)
def test_clients_that_would_differ_are_refused(tmp_path, part, instead, problem):
    with pytest.raises(TaskError, match=problem):
        compare(tmp_path, part, instead)


@pytest.mark.parametrize("instead", [TEST_SEED, "{0: points(200, seed=0)}[self.context.shard]"])
def test_clients_that_are_alike_pass_and_those_whose_files_are_elsewhere(tmp_path, instead):
    compare(tmp_path, TEST_SEED, instead)
