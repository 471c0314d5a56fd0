"""What is wrong with the parts of a task, in words and before the first round."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fedperm.run_document import ModelSpec, TensorSpec
from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import asking_for
from fedperm_client.tasks.task import Examples, Task
from fedperm_client.training.parameters import (
    constants,
    constants_sha256,
    tensors_of,
    trainable,
)

OWN, PUBLIC = "training_data", "test_data"


def checked_model(task: Task) -> nn.Module:
    """The task's model, if it is one and has the same constants whenever it is made."""
    with asking_for("model()"):
        module: object = task.model()
    if not isinstance(module, nn.Module):
        raise TaskError(f"model() gives {type(module).__name__}", "return a torch.nn.Module")
    _check_parameters(module)
    if constants(module):
        with asking_for("model()"):
            _check_constants(constants(module), constants(task.model()))
    return module


def check_is_the_runs(module: nn.Module, expected: ModelSpec) -> None:
    """Tensor by tensor: only numbers travel. What does not travel must be there already."""
    _check_tensors(tensors_of(module), expected.tensors)
    if constants_sha256(module) != expected.constants_sha256:
        raise TaskError(
            "the model's constants are not the run's: frozen parameters and buffers must have the "
            "same values at every client and at the operator",
            "load them from one file that everybody has, and never compute them from own data",
        )


def own_records(task: Task) -> Examples:
    with asking_for(f"{OWN}()"):
        given = task.training_data()
    return _checked(given, OWN)


def public_records(task: Task) -> Examples | None:
    with asking_for(f"{PUBLIC}()"):
        given = task.test_data()
    return None if given is None else _checked(given, PUBLIC)


def _checked(examples: object, part: str) -> Examples:
    if not isinstance(examples, Examples):
        raise TaskError(
            f"{part}() gives {type(examples).__name__}", "return Examples(inputs, targets)"
        )
    _check_tensor(part, "inputs", examples.inputs)
    _check_tensor(part, "targets", examples.targets)
    if len(examples.inputs) == 0 or len(examples.inputs) != len(examples.targets):
        raise TaskError(
            f"{part}() gives {len(examples.inputs)} inputs and {len(examples.targets)} targets",
            "return one target for each input, and at least one",
        )
    return examples


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


def _check_constants(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    for name, values in one.items():
        if name not in other or not torch.equal(values, other[name]):
            raise TaskError(
                f"{name} is not trained, and is another each time that model() is called",
                "draw it after torch.manual_seed with a fixed number, or load it from a file: "
                "it must be the same at every client",
            )


def _check_tensors(own: Sequence[TensorSpec], expected: Sequence[TensorSpec]) -> None:
    if tuple(own) == tuple(expected):
        return
    differing = [(o, e) for o, e in zip(own, expected, strict=False) if o != e]
    if differing:
        (mine, theirs), *_ = differing
        what = f"its tensor {_words(mine)} is {_words(theirs)} in the run"
    else:
        what = f"it has {len(own)} tensors, the run {len(expected)}"
    raise TaskError(
        f"the model is not the run's: {what}",
        "use the task and options that the run's initial model was made with",
    )


def _check_tensor(part: str, name: str, values: object) -> None:
    if not isinstance(values, Tensor):
        raise TaskError(
            f"the {name} of {part}() are {type(values).__name__}",
            "hand in tensors: torch.as_tensor(...)",
        )
    if values.ndim == 0:
        raise TaskError(f"the {name} of {part}() are one number", "stack records along axis 0")
    if values.is_floating_point() and not bool(torch.isfinite(values).all()):
        raise TaskError(
            f"the {name} of {part}() hold NaN or infinity", "repair or leave out such records"
        )


def _words(tensor: TensorSpec) -> str:
    return f"{tensor.name} {list(tensor.shape)}"
