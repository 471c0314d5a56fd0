"""Which modules have per-example gradients: those where one record cannot reach another's."""

from torch import nn

from fedperm_client.training.errors import PerExampleError


def check_per_example(module: nn.Module) -> None:
    """None if every example has a gradient of its own; raises, with a way out, if not."""
    for name, part in module.named_modules():
        _check_part(name or "the module", part)
    for name, _ in module.named_buffers():
        raise PerExampleError(
            f"the module keeps a buffer, {name}, that training may change outside the gradient",
            "remove it: only parameters are clipped, noised and sent",
        )
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            raise PerExampleError(
                f"the parameter {name} is frozen, yet is part of the update",
                "hand in only the part of the model that is trained",
            )


def _check_part(name: str, part: nn.Module) -> None:
    if isinstance(part, nn.modules.batchnorm._BatchNorm):
        raise PerExampleError(
            f"{name} is a {type(part).__name__}: its output mixes all examples of a batch",
            "use GroupNorm or LayerNorm, which look at one example only",
        )
    if isinstance(part, nn.modules.dropout._DropoutNd) and part.training and part.p > 0:
        raise PerExampleError(
            f"{name} is a {type(part).__name__}: it draws from torch's global generator",
            "call module.eval() or remove it; the noise regularises enough",
        )
