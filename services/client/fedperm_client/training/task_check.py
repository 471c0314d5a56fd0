"""What is wrong with the model of a task, in words and before the first round."""

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor, nn

from fedperm.run_document import ModelSpec
from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import asking_for
from fedperm_client.tasks.task import Task
from fedperm_client.training.batch_statistics import check_no_batch_statistics
from fedperm_client.training.parameters import constants, constants_sha256, trainable

_FROM_A_FILE = "load them from one file that everybody has, and never compute them from own data"


def checked_model(task: Task) -> nn.Module:
    """The task's model, if it can be trained and is the same whenever it is made."""
    module = _made(task)
    _check_parameters(module)
    _check_first_values(module)
    check_no_batch_statistics(module)
    _check_comes_again(module, _made(task))
    return module


def check_is_the_runs(module: nn.Module, expected: ModelSpec) -> None:
    """Tensor by tensor: only numbers travel. What does not travel must be there already."""
    difference = _difference(_tensors(module), [_words(t.name, t.shape) for t in expected.tensors])
    if difference is not None:
        raise TaskError(
            f"the model is not the run's: {difference} in the run",
            "use the task and options that the run's initial model was made with",
        )
    if constants_sha256(module) != expected.constants_sha256:
        raise TaskError(
            "the model's constants are not the run's: frozen parameters and buffers must have the "
            "same values at every client and at the operator",
            _FROM_A_FILE,
        )


def check_is_another_clients(module: nn.Module, other: nn.Module) -> None:
    """The same as at a client with another part of the data."""
    difference = _difference(_tensors(module), _tensors(other))
    if difference is not None:
        raise TaskError(
            f"clients have different models: {difference} where the shard is another",
            "give the model sizes that are fixed or options, not found in own data",
        )
    if constants_sha256(module) != constants_sha256(other):
        raise TaskError(
            "clients have different models: frozen parameters or buffers are others where the "
            "shard is another",
            _FROM_A_FILE,
        )


def _made(task: Task) -> nn.Module:
    with asking_for("model()"):
        module: object = task.model()
    if not isinstance(module, nn.Module):
        raise TaskError(f"model() gives {type(module).__name__}", "return a torch.nn.Module")
    return module


def _check_parameters(module: nn.Module) -> None:
    for name, parameter in module.named_parameters():
        if isinstance(parameter, nn.parameter.UninitializedParameter):
            raise TaskError(
                f"the parameter {name} has no shape yet", "give lazy layers their sizes"
            )
        if parameter.requires_grad and not parameter.is_floating_point():
            raise TaskError(
                f"the parameter {name} is {parameter.dtype}", "train floating-point parameters"
            )
    if not trainable(module):
        raise TaskError(
            "the model has no parameter that is trained",
            "leave requires_grad of at least one parameter on",
        )


def _check_first_values(module: nn.Module) -> None:
    """A constant may be infinite, as masks of attention are."""
    for name, values in chain(trainable(module).items(), constants(module).items()):
        allowed = ~values.isnan() if name in constants(module) else values.isfinite()
        if not bool(allowed.all()):
            raise TaskError(
                f"{name} holds NaN or infinity when the model is made",
                "give it first values: torch.empty, for one, leaves what was in memory",
            )


def _check_comes_again(one: nn.Module, other: nn.Module) -> None:
    difference = _difference(_tensors(one), _tensors(other))
    if difference is not None:
        raise TaskError(
            f"model() gives another model each time: {difference} at the next call",
            "give the model sizes that are fixed or options",
        )
    _check_constants(constants(one), constants(other))


def _check_constants(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    for name, values in one.items():
        if name not in other or not torch.equal(values, other[name]):
            raise TaskError(
                f"{name} is not trained, and is another each time that model() is called",
                "draw it after torch.manual_seed with a fixed number, or load it from a file: "
                "it must be the same at every client",
            )


def _difference(own: list[str], others: list[str]) -> str | None:
    """None if there is none; else the words that come before where the others are."""
    if own == others:
        return None
    differing = [
        (mine, theirs) for mine, theirs in zip(own, others, strict=False) if mine != theirs
    ]
    if not differing:
        return f"it has {len(own)} tensors, but {len(others)}"
    (mine, theirs), *_ = differing
    return f"its tensor {mine} is {theirs}"


def _tensors(module: nn.Module) -> list[str]:
    return [_words(name, parameter.shape) for name, parameter in trainable(module).items()]


def _words(name: str, shape: Sequence[int]) -> str:
    return f"{name} {list(shape)}"
