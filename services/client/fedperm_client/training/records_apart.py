"""Records are trained on one beside the other: none may reach another's outputs or loss."""

import warnings

import torch
from torch import Tensor, nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import TASK_ERRORS
from fedperm_client.tasks.task import Examples
from fedperm_client.training.loss_kind import LossKind, kind_of
from fedperm_client.training.per_example import Loss
from fedperm_client.training.rounding import differ


def check_apart(module: nn.Module, examples: Examples, loss: Loss) -> LossKind:
    """A mean, maybe a weighted one; a task where records meet is refused."""
    if len(examples) == 1:
        return LossKind.MEAN
    try:
        outputs = _outputs(module.eval(), examples.inputs)
        kind = kind_of(loss, outputs, examples.targets)
    except TaskError:
        raise
    except TASK_ERRORS as error:
        raise TaskError(
            f"the loss of one record alone cannot be computed: {error}",
            "let model and loss take batches of one as well: squeeze(1), say, not squeeze()",
        ) from error
    _check_kind(kind, outputs, examples.targets)
    return kind


def _outputs(module: nn.Module, inputs: Tensor) -> Tensor:
    """Of all together, if each record has the same alone."""
    with torch.no_grad(), warnings.catch_warnings(action="ignore"):
        together: Tensor = module(inputs)
        again: Tensor = module(inputs)
        alone = torch.cat([module(one) for one in inputs.unsqueeze(1)])
    if alone.shape != together.shape:
        raise TaskError(
            f"{len(inputs)} records have outputs of the shape {list(together.shape)}, and of "
            f"{list(alone.shape)} one by one",
            "let the first axis of outputs count records, and keep it for a single one: "
            "batch_first=True in recurrent layers, squeeze(1) where squeeze() takes all axes",
        )
    is_random = differ(together, again)
    if not is_random and differ(together, alone):
        raise TaskError(
            "a record's outputs depend on the other records of its batch",
            "compute nothing across the first axis, which counts records: statistics of one record "
            "(GroupNorm, LayerNorm), batch_first=True in recurrent layers",
        )
    return together


def _check_kind(kind: LossKind, outputs: Tensor, targets: Tensor) -> None:
    if kind is LossKind.SUM:
        raise TaskError(
            "the loss is a sum over records", 'return their mean: reduction="mean" in torch'
        )
    if kind is LossKind.COUPLED:
        raise TaskError(
            "the loss of a batch is not the mean of its records' losses: outputs have the shape "
            f"{list(outputs.shape)}, targets {list(targets.shape)}",
            "give both the same shape (targets.unsqueeze(1), say) where they are subtracted or "
            "compared, and take the mean of what each record costs alone",
        )
