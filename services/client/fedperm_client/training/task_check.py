"""What is wrong with a task, in words and before the first round."""

from collections.abc import Sequence

import torch
from torch import nn

from fedperm.run_document import TensorSpec
from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import Examples
from fedperm_client.training.parameters import tensors_of
from fedperm_client.training.per_example import Loss

_TRIED_RECORDS = 2
"""Batch statistics need two records to show themselves."""


def check_examples(examples: object, part: str) -> None:
    if not isinstance(examples, Examples):
        raise TaskError(
            f"{part}() gives {type(examples).__name__}", "return Examples(inputs, targets)"
        )
    if len(examples.inputs) == 0 or len(examples.inputs) != len(examples.targets):
        raise TaskError(
            f"{part}() gives {len(examples.inputs)} inputs and {len(examples.targets)} targets",
            "return one target for each input, and at least one",
        )


def check_module(module: object) -> None:
    if not isinstance(module, nn.Module):
        raise TaskError(f"model() gives {type(module).__name__}", "return a torch.nn.Module")
    for name, parameter in module.named_parameters():
        if not parameter.is_floating_point():
            raise TaskError(
                f"the parameter {name} is {parameter.dtype}", "train floating-point parameters"
            )
        if not parameter.requires_grad:
            raise TaskError(
                f"the parameter {name} is frozen, yet would be noised and averaged",
                "register it as a buffer, or train it",
            )


def check_tensors(module: nn.Module, expected: Sequence[TensorSpec]) -> None:
    """The model must be the document's, tensor by tensor: only numbers travel."""
    own = tensors_of(module)
    if own == tuple(expected):
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


def try_out(module: nn.Module, examples: Examples, loss: Loss) -> None:
    """One loss and gradient on the first records, as training will compute them."""
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    try:
        _train_once(module, examples, loss)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        raise TaskError(
            f"the model cannot be trained on the first records: {error}",
            "check the shapes and types of inputs, outputs and targets",
        ) from error
    for name, buffer in module.named_buffers():
        if not torch.equal(before[name], buffer):
            raise TaskError(
                f"training changes the buffer {name}: it is no parameter, would not be averaged "
                "and would differ from client to client",
                "use GroupNorm or LayerNorm instead of batch statistics, or keep it constant",
            )


def _train_once(module: nn.Module, examples: Examples, loss: Loss) -> None:
    module.train()
    value = loss(module(examples.inputs[:_TRIED_RECORDS]), examples.targets[:_TRIED_RECORDS])
    if value.ndim != 0:
        raise ValueError(f"the loss has the shape {tuple(value.shape)}, not that of one number")
    value.backward()  # type: ignore[no-untyped-call]
    module.zero_grad()


def _words(tensor: TensorSpec) -> str:
    return f"{tensor.name} {list(tensor.shape)}"
