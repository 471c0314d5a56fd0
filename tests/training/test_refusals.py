"""Models and data without gradients of single examples are refused in words, with a way out."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from fedperm.errors import FedPermError
from fedperm_client.training.errors import PerExampleError
from fedperm_client.training.per_example import mean_clipped_gradient
from tests.training.definition import by_loop, same_loss
from tests.training.models import CLASSES, FEATURES, batch, filled, linear, perceptron

LINEAR_AND_NOT = pytest.mark.parametrize("model", [lambda: linear(bias=True), perceptron])


@pytest.mark.parametrize(
    ("layer", "problem"),
    [
        (nn.BatchNorm1d(FEATURES), "GroupNorm or LayerNorm"),
        (nn.BatchNorm1d(FEATURES, track_running_stats=False), "GroupNorm or LayerNorm"),
        (nn.BatchNorm1d(FEATURES).eval(), "GroupNorm or LayerNorm"),
        (nn.InstanceNorm1d(1, track_running_stats=True), "track_running_stats=False"),
        (nn.InstanceNorm1d(1, track_running_stats=True).eval(), "track_running_stats=False"),
        (nn.Dropout(0.5), "global generator"),
    ],
)
def test_layers_without_gradients_of_one_example_are_refused(layer, problem):
    module = nn.Sequential(nn.Linear(FEATURES, FEATURES), layer, nn.Linear(FEATURES, CLASSES))
    with pytest.raises(PerExampleError, match=problem) as refusal:
        mean_clipped_gradient(module, *batch(3, seed=1), 1.0)
    assert isinstance(refusal.value, FedPermError)
    assert refusal.value.message.startswith("1 is a")


def test_backward_hooks_are_refused():
    module = linear(bias=True)
    module.register_full_backward_hook(lambda _module, _inner, _outer: None)
    with pytest.raises(PerExampleError, match=r"backward hooks.*remove them"):
        mean_clipped_gradient(module, *batch(3, seed=1), 1.0)


class Centred(nn.Module):
    """Subtracts a constant mean."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)
        self.register_buffer("mean", torch.full((FEATURES,), 0.3))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs - self.mean)


class Counting(Centred):
    """Adds all it sees to its mean, in place."""

    def forward(self, inputs: Tensor) -> Tensor:
        with torch.no_grad():
            self.mean.add_(inputs.mean(0))
        return super().forward(inputs)


class Replacing(Centred):
    """Hides the write: the buffer becomes another tensor."""

    def forward(self, inputs: Tensor) -> Tensor:
        self.mean = self.mean + inputs.detach().mean(0)
        return super().forward(inputs)


def test_constant_buffers_are_computed_with():
    inputs, labels = batch(9, seed=2)
    gradient = mean_clipped_gradient(filled(Centred(), seed=1), inputs, labels, 0.5)
    expected = by_loop(filled(Centred(), seed=1), inputs, labels, 0.5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-14)


def test_buffers_that_are_written_to_are_refused():
    module = Counting()
    with pytest.raises(PerExampleError, match="writes to a buffer") as refusal:
        mean_clipped_gradient(module, *batch(3, seed=1), 1.0)
    assert "remove the write" in refusal.value.hint
    assert torch.equal(module.mean, Centred().mean)


def test_a_replaced_buffer_reaches_no_other_example(monkeypatch):
    """Even where the batch is summed in parts, one example at a time."""
    monkeypatch.setattr("fedperm_client.training.per_example._VALUES_AT_ONCE", 1)
    module, (inputs, labels) = filled(Replacing(), seed=1), batch(5, seed=2)
    together = mean_clipped_gradient(module, inputs, labels, 0.5)
    alone = [
        mean_clipped_gradient(module, inputs[i : i + 1], labels[i : i + 1], 0.5) for i in range(5)
    ]
    np.testing.assert_allclose(together, np.mean(alone, axis=0), rtol=1e-11, atol=1e-14)
    assert torch.equal(module.mean, Centred().mean)


class FunctionalDropout(nn.Linear):
    def forward(self, inputs: Tensor) -> Tensor:
        return functional.dropout(super().forward(inputs), 0.5)


def test_randomness_that_only_torch_sees_is_refused():
    module = FunctionalDropout(FEATURES, CLASSES)
    with pytest.raises(PerExampleError, match="random numbers") as refusal:
        mean_clipped_gradient(module, *batch(3, seed=1), 1.0)
    assert "functional dropout" in refusal.value.hint


def test_errors_of_the_models_own_stay_as_they_are():
    with pytest.raises(RuntimeError, match="shape"):
        mean_clipped_gradient(nn.Sequential(perceptron(), nn.Linear(9, 2)), *batch(3, 1), 1.0)


@LINEAR_AND_NOT
@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (torch.tensor([0, 1, 2], dtype=torch.int32), r"torch\.int32 \(hand in labels\.long"),
        (torch.tensor([0.0, 1.0, 2.0]), r"hand in labels\.long"),
        (torch.tensor([0, 1, CLASSES]), "a label is 4, but the model has 4 classes"),
        (torch.tensor([0, 1, -100]), "a label is -100 .*leave out"),
    ],
)
def test_labels_that_are_no_classes_are_refused(model, labels, problem):
    inputs, _ = batch(3, seed=1)
    with pytest.raises(PerExampleError, match=problem):
        mean_clipped_gradient(model(), inputs, labels, 1.0)


def test_probabilities_of_classes_are_no_labels():
    module, (inputs, labels) = filled(perceptron(), seed=1), batch(9, seed=2)
    probabilities = functional.one_hot(labels, CLASSES).double()
    np.testing.assert_allclose(
        mean_clipped_gradient(module, inputs, probabilities, 0.5),
        mean_clipped_gradient(module, inputs, labels, 0.5),
        rtol=1e-11,
        atol=1e-14,
    )


@LINEAR_AND_NOT
@pytest.mark.parametrize("loss", [functional.cross_entropy, same_loss])
def test_whole_numbers_are_no_inputs(model, loss):
    inputs, labels = batch(3, seed=1)
    with pytest.raises(PerExampleError, match=r"torch\.int64.*hand in inputs\.double"):
        mean_clipped_gradient(model(), inputs.long(), labels, 1.0, loss)


def embedded() -> nn.Module:
    return nn.Sequential(nn.Embedding(5, 2), nn.Flatten(), nn.Linear(6, CLASSES))


def test_whole_numbers_are_looked_up_in_an_embedding():
    tokens, labels = torch.tensor([[0, 1, 4], [2, 2, 3]]), torch.tensor([0, 3])
    gradient = mean_clipped_gradient(filled(embedded(), seed=1), tokens, labels, 1e9)
    module = filled(embedded(), seed=1).double()
    functional.cross_entropy(module(tokens), labels).backward()
    expected = torch.cat([p.grad.flatten() for p in module.parameters()]).numpy()
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-14)


@LINEAR_AND_NOT
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_inputs_and_targets_are_finite(model, wrong):
    inputs, labels = batch(3, seed=1)
    spoilt = inputs.clone()
    spoilt[1, 2] = wrong
    with pytest.raises(PerExampleError, match=r"inputs hold NaN or infinity.*leave out"):
        mean_clipped_gradient(model(), spoilt, labels, 1.0)
    targets = torch.full((3, CLASSES), wrong)
    with pytest.raises(PerExampleError, match="targets hold NaN or infinity"):
        mean_clipped_gradient(model(), inputs, targets, 1.0, functional.mse_loss)
