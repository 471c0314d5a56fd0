"""A task is tried out before the first round: one gradient, and the loss of all records."""

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import TASK_ERRORS
from fedperm_client.tasks.task import Examples, Task
from fedperm_client.training.checked_loss import check_are_finite, check_is_finite, gradients
from fedperm_client.training.evaluation import Evaluation, evaluate
from fedperm_client.training.mode import training_mode
from fedperm_client.training.parameters import constants
from fedperm_client.training.per_example import Loss
from fedperm_client.training.records import (
    OWN,
    PUBLIC,
    TRIED_RECORDS,
    are_same,
    form_of_one,
    in_words,
    own_records,
    public_records,
    spread,
)
from fedperm_client.training.records_apart import check_apart

_BROADCAST = "Using a target size"
"""torch only warns where outputs and targets of different shapes are compared all with all."""

_TYPES = (
    "check shapes and types: inputs as floats (inputs.float()); for cross entropy class numbers as "
    "int64 (targets.long()) from 0, below the number of outputs; else targets as floats of the "
    "outputs' shape"
)

_UNLIKE_OTHERS = "look for records unlike others, such as labels that no output stands for"


@dataclass(frozen=True, eq=False)
class TriedTask:
    """A task's data, and how its model does on them before any training. `unused` are tensors that
    are to be trained although the loss does not depend on them."""

    own: Examples
    public: Examples | None
    on_own: Evaluation
    on_public: Evaluation | None
    unused: tuple[str, ...]


def try_out(task: Task, module: nn.Module) -> TriedTask:
    """`module` is the task's; it is left with whatever values it has."""
    own, public, loss = own_records(task), public_records(task), task.loss
    _check_are_not_public(own, public)
    unused = _try_training(module, spread(own, TRIED_RECORDS), loss)
    on_own = _try_evaluation(module, own, loss, OWN, _UNLIKE_OTHERS)
    on_public = None
    if public is not None:
        on_public = _try_evaluation(module, public, loss, PUBLIC, _way_out(own, public))
    return TriedTask(own, public, on_own, on_public, unused)


def _check_are_not_public(own: Examples, public: Examples | None) -> None:
    if are_same(own, public):
        raise TaskError(
            f"{PUBLIC}() gives the records of {OWN}(): loss and accuracy on them are reported "
            "to the aggregator, without any noise",
            "return public records, or None",
        )


def _try_training(module: nn.Module, some: Examples, loss: Loss) -> tuple[str, ...]:
    """Loss and gradient of some records, as training will compute them, and one by one."""
    before = {name: values.clone() for name, values in constants(module).items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=_BROADCAST)
        unused = _train_once(module, some, loss)
        _check_constants_stay(module, before)
        check_apart(module, some, loss)
    return unused


def _train_once(module: nn.Module, some: Examples, loss: Loss) -> tuple[str, ...]:
    training_mode(module)
    try:
        found = gradients(module, some, loss)
    except TaskError:
        raise
    except TASK_ERRORS as error:
        raise TaskError(
            f"the model cannot be trained on {len(some)} records, {in_words(some)}: {error}", _TYPES
        ) from error
    check_are_finite(found)
    return tuple(name for name, gradient in found.items() if gradient is None)


def _check_constants_stay(module: nn.Module, before: dict[str, Tensor]) -> None:
    for name, values in constants(module).items():
        if not torch.equal(before[name], values):
            raise TaskError(
                f"training changes the buffer {name}: it is no parameter, would not be averaged "
                "and would differ from client to client",
                "keep it constant, or freeze that part of the model",
            )


def _try_evaluation(
    module: nn.Module, examples: Examples, loss: Loss, part: str, way_out: str
) -> Evaluation:
    """The loss of every record: one with a label that does not exist is found here."""
    try:
        evaluation = evaluate(module, examples, loss)
    except TASK_ERRORS as error:
        raise TaskError(
            f"the loss of the records of {part}() cannot be computed: {error}", way_out
        ) from error
    check_is_finite(evaluation.loss, part)
    return evaluation


def _way_out(own: Examples, public: Examples) -> str:
    """Where public records cannot be evaluated."""
    if form_of_one(own) == form_of_one(public):
        return _UNLIKE_OTHERS
    return (
        f"return records like those of {OWN}(): {form_of_one(own)} each, not {form_of_one(public)}"
    )
