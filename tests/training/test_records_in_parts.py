"""Many records are taken in parts: the gradient is that of all together."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from fedperm_client.training.per_example import mean_clipped_gradient

FEATURES = 1 << 12
RECORDS = 300  # more than are taken at once


def many(dtype=torch.float32):
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randn(RECORDS, FEATURES, generator=generator, dtype=dtype)
    return inputs, torch.randint(3, (RECORDS,), generator=generator)


def test_parts_add_up_to_the_clipped_mean_of_all():
    inputs, labels = many()
    module = nn.Linear(FEATURES, 3).double()
    weight = module.weight.detach()
    logits = inputs.double() @ weight.T + module.bias.detach()
    residual = logits.softmax(1) - functional.one_hot(labels, 3)
    gradients = torch.cat(
        [residual[:, :, None] * inputs[:, None, :].double(), residual[:, :, None]], 2
    )
    norms = gradients.flatten(1).norm(dim=1)
    factors = (60.0 / norms).clamp(max=1.0)
    assert 0 < (factors < 1).sum() < RECORDS
    mean = (factors[:, None, None] * gradients).mean(0)
    expected = np.concatenate([mean[:, :-1].flatten(), mean[:, -1]])
    np.testing.assert_allclose(
        mean_clipped_gradient(module, inputs, labels, 60.0), expected, rtol=1e-9, atol=1e-12
    )


def test_numbers_whose_sum_overflows_are_finite_all_the_same():
    inputs = torch.full((2, 3), 3e38)
    assert not torch.isfinite(inputs.sum())
    gradient = mean_clipped_gradient(nn.Linear(3, 2), inputs, torch.tensor([0, 1]), 1.0)
    assert np.isfinite(gradient).all()
