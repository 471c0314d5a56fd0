"""Layers that compute with statistics of a batch: no run can have them."""

from torch import nn

from fedperm_client.errors import TaskError
from fedperm_client.training.mode import training_mode

_Normalisation = nn.modules.batchnorm._NormBase


def check_no_batch_statistics(module: nn.Module) -> None:
    """None if all layers with statistics are frozen: a fixed map of each record."""
    training_mode(module)
    for name, part in module.named_modules():
        if isinstance(part, _Normalisation) and _looks_at_the_batch(part):
            raise TaskError(
                f"{name or 'the model'} is a {type(part).__name__}: its statistics of a batch are "
                "no parameters, would not be averaged and would tell about records",
                "use GroupNorm or LayerNorm, or freeze a pretrained part with its statistics: "
                "requires_grad_(False)",
            )


def _looks_at_the_batch(part: _Normalisation) -> bool:
    """Without running statistics, an InstanceNorm looks at one record only."""
    if part.running_mean is None:
        return isinstance(part, nn.modules.batchnorm._BatchNorm)
    return part.training
