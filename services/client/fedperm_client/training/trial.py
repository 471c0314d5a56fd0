"""A task is tried out before the first round: one step of training, and the loss of all records."""

import math
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import Examples, Task
from fedperm_client.training.errors import PerExampleError
from fedperm_client.training.evaluation import Evaluation, evaluate
from fedperm_client.training.mode import training_mode
from fedperm_client.training.parameters import constants
from fedperm_client.training.per_example import Loss, mean_clipped_gradient
from fedperm_client.training.task_check import OWN, PUBLIC, own_records, public_records

_TRIED_RECORDS = 2
"""Batch statistics need two records to show themselves."""

_BROADCAST = "Using a target size"
"""torch only warns where outputs and targets of different shapes are compared all with all."""

_TYPES = (
    "check shapes and types: inputs as floats (inputs.float()), class numbers as int64 for cross "
    "entropy (targets.long()), else targets as floats of the outputs' shape"
)


@dataclass(frozen=True, eq=False)
class TriedTask:
    """A task's data, and how its model does on them before any training."""

    own: Examples
    public: Examples | None
    on_own: Evaluation
    on_public: Evaluation | None


def try_out(task: Task, module: nn.Module) -> TriedTask:
    """`module` is the task's; it is left with whatever values it has."""
    own, public, loss = own_records(task), public_records(task), task.loss
    _try_training(module, own, loss)
    return TriedTask(
        own,
        public,
        _try_evaluation(module, own, loss, OWN),
        None if public is None else _try_evaluation(module, public, loss, PUBLIC),
    )


def try_single_records(module: nn.Module, examples: Examples, loss: Loss) -> None:
    """Gradients of the first records one by one, as the record-level guarantee needs them."""
    inputs, targets = examples.inputs[:_TRIED_RECORDS], examples.targets[:_TRIED_RECORDS]
    try:
        mean_clipped_gradient(module.eval(), inputs, targets, 1.0, loss)
    except PerExampleError:
        raise
    except Exception as error:
        raise PerExampleError(
            f"the gradient of one record alone cannot be computed: {error}",
            "compute with tensors only: no item(), no if or loop over their values; or take part "
            "in runs that do not protect records",
        ) from error


def _try_training(module: nn.Module, examples: Examples, loss: Loss) -> None:
    """One loss and gradient on the first records, as training will compute them."""
    first = Examples(examples.inputs[:_TRIED_RECORDS], examples.targets[:_TRIED_RECORDS])
    before = {name: values.clone() for name, values in constants(module).items()}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=_BROADCAST)
            _train_once(module, first, loss)
            _check_is_a_mean(module, first, loss)
    except TaskError:
        raise
    except Exception as error:
        raise TaskError(
            f"the model cannot be trained on the first records, {_words(first)}: {error}", _TYPES
        ) from error
    for name, values in constants(module).items():
        if not torch.equal(before[name], values):
            raise TaskError(
                f"training changes the buffer {name}: it is no parameter, would not be averaged "
                "and would differ from client to client",
                "use GroupNorm or LayerNorm instead of batch statistics, freeze that part of the "
                "model, or keep it constant",
            )


def _try_evaluation(module: nn.Module, examples: Examples, loss: Loss, part: str) -> Evaluation:
    """The loss of every record: one with a label that does not exist is found here."""
    try:
        evaluation = evaluate(module, examples, loss)
    except Exception as error:
        raise TaskError(
            f"the loss of the records of {part}() cannot be computed: {error}",
            "look for records unlike the first ones, such as labels that no output stands for",
        ) from error
    if not math.isfinite(evaluation.loss):
        raise TaskError(
            f"the loss on {part}() is {evaluation.loss}",
            "scale the inputs, and guard logarithms and divisions against 0",
        )
    return evaluation


def _train_once(module: nn.Module, examples: Examples, loss: Loss) -> None:
    training_mode(module)
    value = _loss(module, examples, loss)
    if not value.requires_grad:
        raise TaskError(
            "the loss does not depend on what is trained",
            "compute it from the outputs, without detach(), no_grad() or numpy",
        )
    value.backward()  # type: ignore[no-untyped-call]
    module.zero_grad()


def _check_is_a_mean(module: nn.Module, examples: Examples, loss: Loss) -> None:
    """Of twice the same records it is the same. A sum would make steps grow with the records."""
    module.eval()
    twice = Examples(
        torch.cat([examples.inputs, examples.inputs]),
        torch.cat([examples.targets, examples.targets]),
    )
    with torch.no_grad():
        once, doubled = (float(_loss(module, some, loss)) for some in (examples, twice))
    if once and math.isfinite(once) and math.isclose(doubled, 2 * once, rel_tol=1e-4):
        raise TaskError(
            "the loss is a sum over records", 'return their mean: reduction="mean" in torch'
        )


def _loss(module: nn.Module, examples: Examples, loss: Loss) -> Tensor:
    outputs: object = module(examples.inputs)
    if not isinstance(outputs, Tensor):
        raise TaskError(
            f"the model's output is {type(outputs).__name__}", "return one tensor from forward()"
        )
    value: object = loss(outputs, examples.targets)
    if not isinstance(value, Tensor):
        raise TaskError(
            f"loss() gives {type(value).__name__}", "return a tensor: without item() or numpy"
        )
    if value.ndim != 0:
        raise TaskError(
            f"the loss has the shape {list(value.shape)}, not that of one number",
            'return the mean over records: reduction="mean" in torch',
        )
    return value


def _words(examples: Examples) -> str:
    return f"inputs {_form(examples.inputs)} and targets {_form(examples.targets)}"


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
