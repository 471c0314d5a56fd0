"""Records one by one, as the record-level guarantee needs them: tried before the first round."""

from torch import nn

from fedperm_client.errors import TaskError
from fedperm_client.tasks.asking import TASK_ERRORS
from fedperm_client.tasks.task import Examples
from fedperm_client.training.checked_loss import check_are_finite, gradients
from fedperm_client.training.errors import PerExampleError
from fedperm_client.training.loss_kind import LossKind
from fedperm_client.training.per_example import Loss, mean_clipped_gradient
from fedperm_client.training.records import TRIED_RECORDS, one_by_one, spread
from fedperm_client.training.records_apart import check_apart

_RECURRENT = nn.RNNBase, nn.RNNCellBase

_SHARED_STATE = "match the broadcast shape"
"""What torch.func says where a layer writes its records' states into one that it made itself."""


def try_single_records(module: nn.Module, examples: Examples, loss: Loss) -> None:
    """None if records can be clipped one by one, and are then trained on as they are together."""
    some = spread(examples, TRIED_RECORDS)
    try:
        mean_clipped_gradient(module.eval(), some.inputs, some.targets, 1.0, loss)
    except PerExampleError:
        raise
    except TASK_ERRORS as error:
        raise PerExampleError(
            f"the gradient of one record alone cannot be computed: {error}", _way_out(module, error)
        ) from error
    _refuse_not_finite(module, some, loss)
    if check_apart(module, some, loss) is LossKind.WEIGHTED_MEAN:
        raise PerExampleError(
            "the loss weighs the records of a batch, but weights cancel out where records are "
            "clipped one by one",
            'multiply losses with reduction="none" by the weights yourself, and return their mean',
        )


def _refuse_not_finite(module: nn.Module, some: Examples, loss: Loss) -> None:
    """In a round such a gradient counts as zero; before the first one, it is a fault of the model,
    and a plain gradient shows where it begins."""
    for one in one_by_one(some):
        try:
            check_are_finite(gradients(module, one, loss))
        except TaskError as error:
            raise PerExampleError(f"of one record alone: {error.message}", error.hint) from error


def _way_out(module: nn.Module, error: BaseException) -> str:
    recurrent = [
        f"{name or 'the model'} ({type(part).__name__})"
        for name, part in module.named_modules()
        if isinstance(part, _RECURRENT)
    ]
    if recurrent and _SHARED_STATE in str(error):
        return (
            f"hand {recurrent[0]} a first state made of its inputs: zeros = "
            "inputs.new_zeros(layers, len(inputs), size); without one it makes its own for all "
            "records together"
        )
    return (
        "compute with tensors only: no item(), no if or loop over their values; or take part in "
        "runs that do not protect records"
    )
