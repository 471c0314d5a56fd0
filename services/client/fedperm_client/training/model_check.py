"""Which modules have per-example gradients: those where one record cannot reach another's."""

from torch import nn

from fedperm_client.training.errors import PerExampleError
from fedperm_client.training.mode import is_frozen


def check_per_example(module: nn.Module) -> None:
    """None if every example has a gradient of its own; raises, with a way out, if not.

    Frozen parameters and constant buffers (an input mean, positional codes) are allowed: they are
    computed with, never written. No check can see where their values are from; the guarantee needs
    them, as it needs the parameters, to be the same whatever the client's records are.
    """
    for name, part in module.named_modules():
        _check_part(name or "the module", part)


def _check_part(name: str, part: nn.Module) -> None:
    _check_statistics(name, part)
    if isinstance(part, nn.modules.dropout._DropoutNd) and part.training and part.p > 0:
        raise PerExampleError(
            f"{name} is a {type(part).__name__}: it draws from torch's global generator",
            "call module.eval() or remove it; the noise regularises enough",
        )
    if part._backward_hooks or part._backward_pre_hooks:
        raise PerExampleError(
            f"{name} has backward hooks, which gradients of single examples do not call",
            "remove them",
        )


def _check_statistics(name: str, part: nn.Module) -> None:
    if _computes_with_constants(part):
        return
    if isinstance(part, nn.modules.batchnorm._BatchNorm):
        raise PerExampleError(
            f"{name} is a {type(part).__name__}: its output mixes all examples of a batch",
            "use GroupNorm or LayerNorm, which look at one example only",
        )
    if isinstance(part, nn.modules.instancenorm._InstanceNorm) and part.track_running_stats:
        raise PerExampleError(
            f"{name} is a {type(part).__name__} that keeps statistics of all examples",
            "set track_running_stats=False, or use GroupNorm or LayerNorm",
        )


def _computes_with_constants(part: nn.Module) -> bool:
    """A frozen normalisation in evaluation mode: a fixed affine map of each example."""
    return is_frozen(part) and not part.training and getattr(part, "running_mean", None) is not None
