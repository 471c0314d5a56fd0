"""What a loss makes of the losses of single records, seen by its slope at each record's outputs."""

from enum import Enum, auto

import torch
from torch import Tensor

from fedperm_client.training.per_example import Loss
from fedperm_client.training.rounding import differ

_LEAST = 1e-3
"""Slopes below this part of the largest are too small to tell a weight from rounding."""

_MARGIN = 1e-2
"""Of weights."""


class LossKind(Enum):
    """COUPLED: records meet in it, as where torch compares outputs and targets all with all."""

    MEAN = auto()
    SUM = auto()
    WEIGHTED_MEAN = auto()
    COUPLED = auto()


def kind_of(loss: Loss, outputs: Tensor, targets: Tensor) -> LossKind:
    """Of two records or more. Slopes tell more than values: a model that starts with zeros has the
    same loss for all records."""
    count = len(targets)
    batch = _slope(loss, outputs, targets).reshape(count, -1)
    alone = _slopes_alone(loss, outputs, targets).reshape(count, -1)
    if not differ(batch, alone / count):
        return LossKind.MEAN
    if not differ(batch, alone):
        return LossKind.SUM
    is_weighted = _is_weighted(batch.double(), alone.double())
    return LossKind.WEIGHTED_MEAN if is_weighted else LossKind.COUPLED


def _is_weighted(batch: Tensor, alone: Tensor) -> bool:
    """Whether each record's slope is a share of what it is alone, and the shares add up to 1."""
    norms = alone.norm(dim=1)
    shares = ((batch * alone).sum(1) / norms.square()).nan_to_num(0.0)
    if differ(batch, shares.unsqueeze(1) * alone):
        return False
    are_known = norms > _LEAST * norms.max()
    rest = 1 - float(shares[are_known].sum())
    most = _MARGIN if bool(are_known.all()) else 1 + _MARGIN
    return float(shares[are_known].min()) > -_MARGIN and -_MARGIN < rest < most


def _slopes_alone(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    """0 for a record without a label to be right about: nothing divided by nothing."""
    singles = zip(outputs.chunk(len(targets)), targets.unsqueeze(1), strict=True)
    slopes = torch.cat([_slope(loss, some, target) for some, target in singles])
    return slopes.nan_to_num(0.0, 0.0, 0.0)


def _slope(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    outputs = outputs.detach().clone().requires_grad_()
    value = loss(outputs.clone(), targets)  # a copy: a loss may write to its outputs
    (slope,) = torch.autograd.grad(value, outputs, allow_unused=True)
    return torch.zeros_like(outputs) if slope is None else slope
