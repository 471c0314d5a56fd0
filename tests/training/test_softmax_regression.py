"""The closed form is for plain linear models only; whatever computes more goes another way."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from fedperm_client.training.per_example import mean_clipped_gradient
from fedperm_client.training.softmax_regression import linear_layer
from tests.training.definition import by_loop
from tests.training.models import CLASSES, FEATURES, batch, filled, flat_linear, linear


class Disguised(nn.Linear):
    """Looks linear, is not."""

    def forward(self, inputs: Tensor) -> Tensor:
        return super().forward(inputs).tanh()


def hooked() -> nn.Module:
    module = linear(bias=True)
    module.register_forward_hook(lambda _module, _inputs, output: output.tanh())
    return module


def pre_hooked() -> nn.Module:
    module = linear(bias=True)
    module.register_forward_pre_hook(lambda _module, inputs: (inputs[0].tanh(),))
    return module


def hooked_around() -> nn.Module:
    module = flat_linear()
    module.register_forward_hook(lambda _module, _inputs, output: output.tanh())
    return module


def hooked_before() -> nn.Module:
    module = flat_linear()
    module[0].register_forward_hook(lambda _module, _inputs, output: output.tanh())
    return module


def patched() -> nn.Module:
    module = linear(bias=True)
    plain = module.forward
    module.forward = lambda inputs: plain(inputs).tanh()
    return module


def weight_normed() -> nn.Module:
    with pytest.warns(FutureWarning, match="weight_norm"):
        return nn.utils.weight_norm(linear(bias=True))


def turned_round() -> nn.Module:
    """The bias comes before the weight in the list of parameters."""
    return nn.utils.remove_weight_norm(weight_normed())


def constant_bias() -> nn.Module:
    module = linear(bias=False)
    del module.bias
    module.register_buffer("bias", torch.ones(CLASSES))
    return module


def with_a_parameter_beside() -> nn.Module:
    module = flat_linear()
    module.register_parameter("unused", nn.Parameter(torch.ones(2)))
    return module


def loop_gradient(model: Callable[[], nn.Module], inputs: Tensor, labels: Tensor):
    return by_loop(filled(model(), seed=1), inputs, labels, 0.5)


@pytest.mark.parametrize(
    "model",
    [
        lambda: Disguised(FEATURES, CLASSES),
        hooked,
        pre_hooked,
        hooked_around,
        hooked_before,
        patched,
        weight_normed,
        turned_round,
        constant_bias,
    ],
)
def test_only_a_true_linear_model_gets_the_closed_form(model):
    module = filled(model(), seed=1)
    assert linear_layer(module) is None
    inputs, labels = batch(9, seed=2)
    gradient = mean_clipped_gradient(module, inputs, labels, 0.5)
    assert gradient.shape == (sum(p.numel() for p in module.parameters()),)
    np.testing.assert_allclose(
        gradient, loop_gradient(model, inputs, labels), rtol=1e-11, atol=1e-14
    )
    assert torch.isfinite(module(inputs)).all()


def test_a_parameter_beside_the_layer_gets_its_zeros():
    module = filled(with_a_parameter_beside(), seed=1)
    gradient = mean_clipped_gradient(module, *batch(9, seed=2), 0.5)
    assert gradient.shape == (2 + CLASSES * (FEATURES + 1),)
    assert not gradient[:2].any()


def test_a_hook_on_all_modules_is_called():
    module, data = filled(linear(bias=True), seed=1), batch(9, seed=2)
    hook = register_module_forward_pre_hook(lambda _module, inputs: (2 * inputs[0],))
    try:
        gradient = mean_clipped_gradient(module, *data, 0.5)
    finally:
        hook.remove()
    expected = loop_gradient(doubling, *data)
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-14)


def doubling() -> nn.Module:
    module = linear(bias=True)
    module.register_forward_pre_hook(lambda _module, inputs: (2 * inputs[0],))
    return module


def flattened_after() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 2), nn.Flatten())


def test_a_linear_layer_alone_does_not_flatten():
    """Two rows of three to two values each, flattened after: four classes."""
    inputs, labels = batch(9, seed=2, shape=(2, 3))
    gradient = mean_clipped_gradient(filled(flattened_after(), seed=1), inputs, labels, 0.5)
    expected = loop_gradient(flattened_after, inputs, labels)
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-14)


def test_dropout_that_is_switched_off_is_fine():
    module = nn.Sequential(nn.Dropout(0.5), nn.Linear(FEATURES, CLASSES)).eval()
    assert linear_layer(module) is None
    gradient = mean_clipped_gradient(module, *batch(3, seed=1), 1.0)
    np.testing.assert_allclose(gradient, mean_clipped_gradient(module[1], *batch(3, seed=1), 1.0))
