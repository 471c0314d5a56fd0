"""A model that was trained in a run, put back into its task's module."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fedperm.durable_file import replacing
from fedperm.wire.model import Parameters
from fedperm_client.errors import TaskError
from fedperm_client.model_store import NO_CONSTANTS, StoredModel, Tensors
from fedperm_client.tasks.task import Task
from fedperm_client.training.evaluation import Evaluation, evaluate
from fedperm_client.training.parameters import constants_sha256, flatten, load, tensors_of
from fedperm_client.training.records import public_records
from fedperm_client.training.task_check import checked_model

FLAT = "parameters"
"""The one tensor of a checkpoint or an initial model: all weights in a row, without names."""


@dataclass(frozen=True)
class TriedModel:
    evaluation: Evaluation
    records: int
    parameters: int


def is_flat(tensors: Tensors) -> bool:
    return set(tensors) == {FLAT} and tensors[FLAT].ndim == 1


def put_into(module: nn.Module, tensors: Tensors) -> None:
    """Trained tensors by name, or all in a row; whatever does not fit is refused."""
    expected = {tensor.name: tensor.shape for tensor in tensors_of(module)}
    if is_flat(tensors) and set(expected) != {FLAT}:
        vector = tensors[FLAT]
        if vector.size != flatten(module).size:
            raise _foreign(f"{vector.size:,} parameters, the task's has {flatten(module).size:,}")
        load(module, vector.astype(np.float64))
        return
    trained = {name: values for name, values in tensors.items() if name in expected}
    shapes = {name: values.shape for name, values in trained.items()}
    if shapes != expected:
        missing = sorted(name for name in expected if shapes.get(name) != expected[name])
        raise _foreign(f"no {missing[0]} of the shape {list(expected[missing[0]])}")
    load(module, _vector([trained[name] for name in expected]))


def whole_model(task: Task, stored: StoredModel) -> StoredModel:
    """All that the task's module needs, frozen parts and buffers as well."""
    module = _trained(task, stored)
    state = {name: values.detach().cpu().numpy() for name, values in module.state_dict().items()}
    return StoredModel(state, _constants(module))


def tried_model(task: Task, stored: StoredModel) -> TriedModel:
    """How good it is on the task's public data."""
    module, public = _trained(task, stored), public_records(task)
    if public is None:
        raise TaskError(
            "the task has no test data to try a model on", "let test_data() return some"
        )
    return TriedModel(evaluate(module, public, task.loss), len(public), flatten(module).size)


def _trained(task: Task, stored: StoredModel) -> nn.Module:
    module = checked_model(task)
    put_into(module, stored.tensors)
    if stored.constants not in {None, _constants(module)}:
        raise TaskError(
            "what was trained does not belong to this model: its frozen parameters or buffers are "
            "not those of the run",
            "name the task, options and data directory that the run's clients had: another file of "
            "frozen parameters gives wrong outputs",
        )
    return module


def _constants(module: nn.Module) -> str:
    return constants_sha256(module) or NO_CONSTANTS


def write_state_dict(path: Path, tensors: Tensors) -> None:
    """As `torch.load(path, weights_only=True)` reads it."""
    state = {name: torch.from_numpy(np.array(values)) for name, values in tensors.items()}
    with replacing(path) as file:
        torch.save(state, file)


def _vector(parts: list[NDArray[Any]]) -> Parameters:
    vector: Parameters = np.concatenate([part.astype(np.float64).reshape(-1) for part in parts])
    return vector


def _foreign(what: str) -> TaskError:
    return TaskError(
        f"this is no model of the task: it has {what}",
        "name the task, and the options, with which the run was made",
    )
