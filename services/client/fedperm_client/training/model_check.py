"""Which modules have per-example gradients: those where one record cannot reach another's."""

from torch import nn

from fedperm_client.training.errors import PerExampleError


def check_per_example(module: nn.Module) -> None:
    """None if every example has a gradient of its own; raises, with a way out, if not.

    Constant buffers (an input mean, positional codes) are allowed: they are computed with, never
    written. No check can see where their values are from; the guarantee needs them, as it needs
    the parameters, to be the same whatever the client's records are.
    """
    for name, part in module.named_modules():
        _check_part(name or "the module", part)
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            raise PerExampleError(
                f"the parameter {name} is frozen, yet is part of the update",
                "hand in only the part of the model that is trained",
            )


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
