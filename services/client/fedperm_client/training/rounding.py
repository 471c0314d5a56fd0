"""Numbers that should be the same, but were computed in another order."""

import torch
from torch import Tensor

_MARGIN = 1e-3


def differ(one: Tensor, other: Tensor) -> bool:
    """By more than rounding may explain, measured by the largest of them. Equal infinities, as of
    outputs that are masked, do not."""
    margin = max(_MARGIN, 4 * torch.finfo(one.dtype).eps)
    largest = max(_largest(one), _largest(other))
    return not torch.allclose(one, other, rtol=0.0, atol=margin * largest)


def _largest(values: Tensor) -> float:
    return float(values.nan_to_num(0.0, 0.0, 0.0).abs().max())
