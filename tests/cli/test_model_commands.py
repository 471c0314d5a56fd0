"""`fedperm model export` and `evaluate`: a client's model for other programs, and for a test."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from fedperm.wire.model import decode_model
from fedperm_client.initial_model import initial_model
from fedperm_client.model_store import Checkpoint, ModelStore, constants_of, export_model
from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.loading import make_task
from fedperm_client.training.evaluation import evaluate
from fedperm_client.training.parameters import load
from tests.cli.command_line import fedperm, one_object
from tests.tasks.contexts import context

EXAMPLE = Path(__file__).parents[2] / "examples" / "last_layer.py"
LAST_LAYER = f"{EXAMPLE}:FineTuned"


def state_of_a_client(folder: Path, task: str, *runs: str, finished: bool = True) -> Path:
    """As a client leaves it after its last round, or between two."""
    made = initial_model(task, {}, seed=3)
    parameters = decode_model(made.body, made.spec.parameters)
    for run in runs:
        kept = folder / "runs" / run
        kept.mkdir(parents=True)
        store = ModelStore(kept / "checkpoint.safetensors", constants_of(made.spec))
        store.save(Checkpoint(parameters, settled=2, epoch=1, document="0" * 64))
        if finished:
            export_model(kept / "model.safetensors", parameters, made.spec)
    return folder


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return state_of_a_client(tmp_path_factory.mktemp("client"), "digits", "first")


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unfinished")
    return state_of_a_client(folder, "digits", "first", finished=False)


@pytest.fixture(scope="module")
def parameters() -> np.ndarray:
    made = initial_model("digits", {}, seed=3)
    return decode_model(made.body, made.spec.parameters)


def test_what_was_trained_is_exported_as_safetensors(state, parameters, tmp_path) -> None:
    file = tmp_path / "model.safetensors"
    exported = one_object("model", "export", str(state), "--output", str(file), "--json")
    assert exported["tensors"] == {"1.weight": [10, 64], "1.bias": [10]}
    assert (exported["kind"], exported["whole"]) == ("safetensors", False)
    tensors = safetensors.numpy.load(file.read_bytes())
    flat = np.concatenate([tensors[name].ravel() for name in ("1.weight", "1.bias")])
    np.testing.assert_array_equal(flat, parameters)


@pytest.mark.parametrize("task", [(), ("--task", "digits")])
def test_a_torch_state_dict_fits_the_tasks_module(state, parameters, tmp_path, task) -> None:
    file = tmp_path / "model.pt"
    said = fedperm("model", "export", str(state), "--output", str(file), *task).stdout
    assert "torch state dict" in said
    module = Digits(context()).model()
    module.load_state_dict(torch.load(file, weights_only=True))
    expected = Digits(context()).model()
    load(expected, parameters)
    for mine, theirs in zip(module.parameters(), expected.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_whole_model_has_its_frozen_part(tmp_path) -> None:
    state = state_of_a_client(tmp_path / "client", LAST_LAYER, "tuned")
    file = tmp_path / "whole.pt"
    exported = one_object(
        *("model", "export", str(state), "--output", str(file), "--task", LAST_LAYER, "--json")
    )
    assert exported["whole"]
    module = make_task(LAST_LAYER, context()).model()
    with torch.no_grad():
        module[0][0].weight.zero_()
    module.load_state_dict(torch.load(file, weights_only=True))
    assert module[0][0].weight.abs().sum() > 0


@pytest.fixture
def another_backbone(tmp_path: Path) -> str:
    other = tmp_path / "other.py"
    other.write_text(EXAMPLE.read_text().replace("SEED = 20", "SEED = 21"))
    return f"{other}:FineTuned"


@pytest.mark.parametrize("kept_as", ["model", "checkpoint", "what was trained", "whole"])
def test_another_frozen_part_is_refused(tmp_path, another_backbone, kept_as) -> None:
    """Whatever the file has been through."""
    state = state_of_a_client(tmp_path / "client", LAST_LAYER, "tuned")
    place = state / f"runs/tuned/{kept_as}.safetensors"
    if not place.exists():
        task = ("--task", LAST_LAYER) if kept_as == "whole" else ()
        place = tmp_path / "exported.safetensors"
        assert fedperm("model", "export", str(state), "--output", str(place), *task).stdout
    assert one_object("model", "evaluate", str(place), "--task", LAST_LAYER, "--json")["records"]
    refused = fedperm("model", "evaluate", str(place), "--task", another_backbone)
    assert refused.returncode == 2
    assert "frozen parameters or buffers are not those of the run" in refused.stderr


def test_files_that_do_not_tell_are_read_as_before(tmp_path, another_backbone) -> None:
    state = state_of_a_client(tmp_path / "client", LAST_LAYER, "tuned")
    file = state / "runs/tuned/model.safetensors"
    safetensors.numpy.save_file(safetensors.numpy.load_file(file), file)
    assert one_object("model", "evaluate", str(file), "--task", another_backbone, "--json")


@pytest.mark.parametrize("where", ["state", "file", "checkpoint", "unfinished"])
def test_a_model_is_evaluated_wherever_it_lies(
    state, unfinished, parameters, where, monkeypatch
) -> None:
    monkeypatch.setenv("FEDPERM_TASK", "digits")
    places = {
        "state": state,
        "file": state / "runs/first/model.safetensors",
        "checkpoint": state / "runs/first/checkpoint.safetensors",
        "unfinished": unfinished,
    }
    found = one_object("model", "evaluate", str(places[where]), "--json")
    module = Digits(context()).model()
    load(module, parameters)
    task = Digits(context())
    expected = evaluate(module, task.test_data(), task.loss)
    assert found["accuracy"] == expected.accuracy
    assert found["loss"] == pytest.approx(expected.loss)
    assert (found["records"], found["parameters"]) == (360, 650)


def test_people_read_loss_and_accuracy(state) -> None:
    said = fedperm("model", "evaluate", str(state), "--task", "digits").stdout
    assert "360 test records" in said
    assert "accuracy" in said


def test_one_of_several_runs_is_chosen(tmp_path) -> None:
    state = state_of_a_client(tmp_path / "client", "digits", "first", "second")
    file = str(tmp_path / "model.safetensors")
    finished = fedperm("model", "export", str(state), "--output", file)
    assert finished.returncode == 2
    assert "choose one with --run: first, second" in finished.stderr
    exported = one_object(
        *("model", "export", str(state), "--run", "second", "--output", file, "--json")
    )
    assert "second" in exported["source"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "{unfinished}", "--output", "m.pt"), "numbers without names"),
        (("export", "{state}", "--output", "model.onnx"), "could be anything"),
        (("export", "{state}", "--output", "no/such/folder/m.pt"), "cannot write"),
        (("export", "{state}/nowhere", "--output", "m.pt"), "there is no"),
        (("export", "{state}/runs", "--output", "m.pt"), "0 runs"),
        (("evaluate", "{state}"), "which task"),
        (("evaluate", "{state}", "--task", "digits", "--option", "model=mlp"), "no model of the"),
        (("evaluate", "{checkpoint}", "--task", "digits", "--option", "model=mlp"), "650 param"),
        (("evaluate", "{state}", "--task", "synthetic", "--option", "parameters=5"), "no model"),
        (("evaluate", "README.md", "--task", "digits"), "cannot be read as a model"),
    ],
)
def test_what_cannot_be_done_is_said(state, unfinished, arguments, words, monkeypatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    checkpoint = state / "runs/first/checkpoint.safetensors"
    places = {"state": state, "unfinished": unfinished, "checkpoint": checkpoint}
    finished = fedperm("model", *(part.format(**places) for part in arguments))
    assert finished.returncode == 2
    assert words in finished.stderr
    assert "hint: " in finished.stderr
