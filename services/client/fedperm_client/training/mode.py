"""Which parts of a module behave as in training."""

from torch import nn


def training_mode(module: nn.Module) -> None:
    """All but frozen parts: these compute as they will when the model is used, so that their batch
    statistics stay those that they came with."""
    module.train()
    for part in module.modules():
        if is_frozen(part):
            part.eval()


def is_frozen(part: nn.Module) -> bool:
    """Has parameters, none of which is trained."""
    parameters = list(part.parameters())
    return bool(parameters) and not any(parameter.requires_grad for parameter in parameters)
