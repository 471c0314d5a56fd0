"""Plain local training against hand-worked steps."""

from itertools import chain
from random import Random

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples
from fedperm_client.training.parameters import flatten, load, tensors_of
from fedperm_client.training.sgd import LocalSgd
from tests.training.models import batch, convolution, filled, linear, perceptron


def line(slope: float, intercept: float) -> nn.Module:
    module = nn.Linear(1, 1).double()
    load(module, np.array([slope, intercept]))
    return module


def points(*pairs: tuple[float, float]) -> Examples:
    inputs, targets = zip(*pairs, strict=True)
    return Examples(
        torch.tensor(inputs, dtype=torch.float64).unsqueeze(1),
        torch.tensor(targets, dtype=torch.float64).unsqueeze(1),
    )


def sgd(**changes) -> LocalSgd:
    settings = {"learning_rate": 0.1, "epochs": 1, "batch_size": None}
    return LocalSgd(**(settings | changes), loss=functional.mse_loss)


def test_a_full_batch_step_is_minus_the_learning_rate_times_the_gradient():
    """At y = 0: residuals -1 and -3, gradient (mean of 2 r x, mean of 2 r) = (-7, -4)."""
    update = sgd().update(line(0, 0), points((1, 1), (2, 3)), Random(1))
    np.testing.assert_allclose(update, [0.7, 0.4])


def test_a_second_epoch_starts_where_the_first_ended():
    """After one step y = 0.7 x + 0.4: residuals 0.1 and -1.2, gradient (-2.3, -1.1)."""
    update = sgd(epochs=2).update(line(0, 0), points((1, 1), (2, 3)), Random(1))
    np.testing.assert_allclose(update, [0.7 + 0.23, 0.4 + 0.11])


def test_every_record_is_used_once_an_epoch_in_an_order_of_the_given_randomness():
    def targets_seen(seed: int) -> list[list[float]]:
        seen = []

        def loss(outputs, targets):
            seen.append(targets.flatten().tolist())
            return functional.mse_loss(outputs, targets)

        data = points(*[(0.0, float(i)) for i in range(10)])
        LocalSgd(0.1, 2, 4, loss).update(line(0, 0), data, Random(seed))
        return seen

    seen = targets_seen(seed=1)
    assert [len(records) for records in seen] == [4, 4, 2, 4, 4, 2]
    first, second = list(chain(*seen[:3])), list(chain(*seen[3:]))
    assert sorted(first) == sorted(second) == [float(i) for i in range(10)]
    assert first != second
    assert seen == targets_seen(seed=1) != targets_seen(seed=2)


def test_the_update_is_what_the_parameters_moved_even_in_single_precision():
    """Loading 64-bit parameters into 32 bits rounds them: that is no part of the update."""
    module, data = filled(perceptron(), seed=1), Examples(*batch(8, seed=2))
    parameters = flatten(module) + 1e-9
    load(module, parameters)
    start = flatten(module)
    update = LocalSgd(0.1, 1, None, functional.cross_entropy).update(module, data, Random(1))
    np.testing.assert_array_equal(start + update, flatten(module))
    assert np.abs(start - parameters).max() > 0
    assert update.dtype == np.float64


def test_a_parameter_without_influence_does_not_move():
    module = nn.Linear(1, 1).double()
    module.unused = nn.Parameter(torch.ones(2, dtype=torch.float64))
    update = sgd().update(module, points((1, 1)), Random(1))
    names = [tensor.name for tensor in tensors_of(module)]
    assert update[names.index("unused") : names.index("unused") + 2].tolist() == [0, 0]


def test_parameters_are_flattened_in_the_order_of_their_names_row_by_row():
    module = linear(bias=True)
    with torch.no_grad():
        module.weight.copy_(torch.arange(24.0).reshape(4, 6))
        module.bias.copy_(torch.arange(24.0, 28.0))
    assert [(t.name, t.shape) for t in tensors_of(module)] == [("weight", (4, 6)), ("bias", (4,))]
    assert flatten(module).tolist() == list(range(28))


def test_loading_undoes_flattening():
    for make in (perceptron, convolution):
        one, other = filled(make(), seed=1), filled(make(), seed=2)
        load(other, flatten(one))
        assert all(
            torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True)
        )
