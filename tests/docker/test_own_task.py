"""deploy/own-task.yml: somebody's own file, its options and its data, in containers."""

import pytest

from tests.docker.composed import ROOT, STATE, Composed

pytestmark = pytest.mark.docker

TASK = """
import os
import torch
from torch import nn
from fedperm_client.tasks.task import Examples

class Heights:
    def __init__(self, context):
        assert dict(context.options) == {"inputs": 3, "unit": "cm"}
        assert not os.access(context.data_directory, os.W_OK)
        self.inputs = context.options["inputs"]
        self.folder = context.data_directory

    def model(self): return nn.Linear(self.inputs, 1)
    def training_data(self): return self.read("own")
    def test_data(self): return self.read("public")
    def loss(self, outputs, targets): return nn.functional.mse_loss(outputs, targets)
    def read(self, name):
        heights = [[float(line)] for line in (self.folder / name).open()]
        return Examples(torch.ones(len(heights), self.inputs), torch.tensor(heights))
"""
KNOBS = {
    "ROUNDS": 1,
    "QUORUM": 2,
    "MIN_CONTRIBUTORS": 2,
    "ACCEPT_NO_RECORD_GUARANTEE": "true",
    "EPSILON": 2,
    "KEY_BITS": 512,
    "INSECURE_FOR_TESTS": "true",
    "KEYSERVER_PORT": 0,
    "AGGREGATOR_PORT": 0,
    "DASHBOARD_PORT": 0,
    "TASK": "heights.py:Heights",
    "TASK_OPTIONS": "inputs=3 unit=cm",
    "K1": 4,
    "CLIP_NORM_RECORD": "",
}


def test_a_task_of_ones_own_is_trained_with_its_options_on_data_that_are_only_read(tmp_path):
    tasks, data = tmp_path / "tasks", tmp_path / "data"
    for folder in (tasks, data):
        folder.mkdir(mode=0o755)
    (tasks / "heights.py").write_text(TASK)
    (data / "own").write_text("170\n180\n")
    (data / "public").write_text("175\n")
    knobs = {**KNOBS, "TASKS": tasks, "DATA": data}
    with Composed("fedperm-own", tmp_path, knobs, ROOT / "deploy" / "own-task.yml") as own:
        own.up(clients=2)
        assert own.operator_exit_code() == 0, own.log("operator")
        clients = own.containers("client")
        own.docker.wait(clients)
        held = {own.read_json(c, f"{STATE}/summary.json")["parameters_sha256"] for c in clients}
        said = own.log("operator")
    assert "own: 1 rounds of up to 20 clients, Heights (d = 4), k1 = 4" in said
    assert "2 of 2 clients  test loss " in said
    assert "Loss on public test data, by round" in said
    assert len(held) == 1
