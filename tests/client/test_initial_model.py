"""The initial model's body and what a document says of it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from fedperm.run_document import ModelSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import decode_model
from fedperm_client.initial_model import initial_model, main, parse_option

OWN = f"{Path(__file__).parents[1] / 'tasks' / 'own_task.py'}:Lines"


def test_the_body_holds_the_parameters_in_the_documents_order():
    made = initial_model("digits", {"model": "mlp", "hidden": 4}, seed=3)
    torch.manual_seed(3)
    layers = [torch.nn.Linear(64, 4), torch.nn.Linear(4, 10)]
    expected = np.concatenate(
        [p.detach().numpy().ravel() for one in layers for p in one.parameters()]
    )
    np.testing.assert_array_equal(decode_model(made.body, made.spec.parameters), expected)
    assert [tensor.name for tensor in made.spec.tensors] == [
        "1.weight",
        "1.bias",
        "3.weight",
        "3.bias",
    ]
    assert made.spec.initial_sha256 == sha256_of(made.body)


def test_the_same_seed_gives_the_same_body_and_leaves_torchs_generator_alone():
    before = torch.random.get_rng_state()
    bodies = [initial_model("digits", {}, seed).body for seed in (1, 1, 2)]
    assert bodies[0] == bodies[1] != bodies[2]
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_command_writes_the_body_and_prints_the_documents_member(tmp_path):
    output = tmp_path / "initial.safetensors"
    command = [sys.executable, "-m", "fedperm_client.initial_model", "--task", OWN]
    done = subprocess.run(
        [*command, "--option", "count=7", "--seed", "5", "--output", str(output)],
        capture_output=True,
        check=True,
        text=True,
    )
    spec = ModelSpec.model_validate_json(done.stdout)
    assert [(t.name, t.shape) for t in spec.tensors] == [("weight", (1, 1)), ("bias", (1,))]
    assert spec.initial_sha256 == sha256_of(output.read_bytes())
    assert safetensors.numpy.load(output.read_bytes())["parameters"].shape == (2,)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("true", True),
        ("cnn", "cnn"),
        ("[1]", "[1]"),
        ("", ""),
        ("a=b", "a=b"),
    ],
)
def test_options_are_read_as_the_document_has_them(text, value):
    name, read = parse_option(f"model={text}")
    assert (name, read, type(read)) == ("model", value, type(value))


def test_a_wrong_option_is_said(tmp_path, capsys):
    arguments = ["--task", "digits", "--option", "hidden=2.5", "--output", str(tmp_path / "m")]
    assert main(arguments) == 1
    assert "options are wrong: hidden" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_an_option_without_a_value_is_a_usage_error(tmp_path):
    with pytest.raises(SystemExit) as exit_:
        main(["--task", "digits", "--option", "model", "--output", str(tmp_path / "m")])
    assert exit_.value.code == 2


def test_an_output_that_cannot_be_written_is_said(tmp_path, capsys):
    assert main(["--task", "digits", "--output", str(tmp_path / "none" / "m")]) == 1
    assert "cannot be written" in capsys.readouterr().err
