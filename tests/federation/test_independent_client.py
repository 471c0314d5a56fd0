"""A stranger with nothing but docs/protocol.md takes part beside our own client."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedperm_client.initial_model import initial_model
from tests.federation.world import KEY, world

HERE = Path(__file__).parent
STRANGER = HERE / "independent_client.py"
PUSH = f"{HERE / 'push_task.py'}:Push"
CLIP = 0.1
ROUNDS = {
    "count": 2,
    "clients_per_round": 2,
    "min_contributors": 2,
    "start_with": 2,
    "deadline_seconds": 60.0,
    "extension_seconds": 30.0,
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """One key server and one aggregator for both runs."""
    with world(tmp_path_factory.mktemp("world")) as running:
        yield running


def document(run, initial, **changes):
    return {
        "run": run,
        "task": {"name": "push"},
        "model": initial.spec.model_dump(),
        "training": {"learning_rate": 1.0},
        "shuffle": {"k1": 40, "k2": 2},
        "noise": {"clip": CLIP, "laplace_scale": 0.0},
        "value_bits": 10,
        "norm_bound": {"limit": 20.0},
        "rounds": ROUNDS,
        "insecure_for_tests": True,
        **changes,
    }


def start_stranger(here, number):
    return subprocess.Popen(
        [
            sys.executable,
            STRANGER,
            *("--keyserver", here.key_server.address, "--aggregator", here.aggregator.address),
            *("--key", KEY, "--run", here.run, "--token", here.token(), "--number", str(number)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report_of(stranger):
    out, errors = stranger.communicate(timeout=300)
    assert stranger.returncode == 0, errors
    return json.loads(out)


def test_the_stranger_imports_nothing_of_ours():
    names = set()
    for node in ast.walk(ast.parse(STRANGER.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).split(".")[0])
    libraries = names - set(sys.stdlib_module_names)
    assert libraries == {"cryptography", "httpx", "numpy", "phe", "safetensors"}


@pytest.mark.system
def test_sums_are_exact_and_models_identical_beside_our_client(here):
    """Without noise, what our client sends is known: the largest value in every coordinate."""
    initial = initial_model(PUSH, {}, seed=1)
    frozen = here.create_run(document("quiet", initial), initial)
    ours = here.start_client("ada", task=PUSH, accept_no_privacy=True)
    report = report_of(start_stranger(here, number=0.037))
    assert ours.wait(60) == 0
    d, top = frozen.content.model.parameters, 2**frozen.content.value_bits - 1
    assert set(report["sums"]) == {"1", "2"}
    for number, sums in report["sums"].items():
        sent = np.array(report["sent"][number][:d])
        assert np.array_equal(np.array(sums[:d]), sent + top)
    assert here.summary("ada").parameters_sha256 == report["parameters_sha256"]


@pytest.mark.system
def test_a_stranger_who_adds_noise_ends_with_the_same_model(here):
    initial = initial_model(PUSH, {}, seed=1)
    noise = {"clip": CLIP, "laplace_scale": 0.7}
    loud = document("loud", initial, noise=noise, value_bits=8, norm_bound={"limit": 30.0})
    here.create_run(loud, initial)
    ours = here.start_client("cleo", task=PUSH, max_epsilon=1000)
    report = report_of(start_stranger(here, number=-0.05))
    assert ours.wait(60) == 0
    assert here.summary("cleo").parameters_sha256 == report["parameters_sha256"]
