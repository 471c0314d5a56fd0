"""Per-example clipped gradients against a plain loop, and the bound that rests on them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from fedperm.errors import ParameterError
from fedperm.normalisation import normalise
from fedperm.privacy.record_level import LocalTraining
from fedperm_client.training.per_example import ClippedStep, mean_clipped_gradient
from tests.training.definition import by_loop, same_loss
from tests.training.models import (
    CLASSES,
    FEATURES,
    batch,
    convolution,
    filled,
    flat_linear,
    linear,
    perceptron,
)

MODELS = {
    "linear": lambda: linear(bias=True),
    "without bias": lambda: linear(bias=False),
    "flattened": flat_linear,
    "perceptron": perceptron,
    "convolution": convolution,
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("clip_norm", [0.01, 0.5, 1e6])
def test_all_paths_agree_with_a_loop(model, clip_norm):
    module = filled(MODELS[model](), seed=1)
    inputs, labels = batch(40, seed=2)
    expected = by_loop(filled(MODELS[model](), seed=1), inputs, labels, clip_norm)
    chosen = mean_clipped_gradient(module, inputs, labels, clip_norm)
    by_vmap = mean_clipped_gradient(module, inputs, labels, clip_norm, same_loss)
    assert chosen.dtype == np.float64
    assert chosen.shape == (sum(p.numel() for p in module.parameters()),)
    np.testing.assert_allclose(chosen, expected, rtol=1e-11, atol=1e-13 * min(clip_norm, 1))
    np.testing.assert_allclose(by_vmap, expected, rtol=1e-11, atol=1e-13 * min(clip_norm, 1))


class Steep(nn.Module):
    """The gradient of a record whose first input is 0 holds NaN or infinity."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.layer(inputs) * (inputs[:, :1] * self.layer.weight[0, 0]).abs().sqrt()


@pytest.mark.parametrize("at_0", [0, 7])
def test_a_gradient_that_is_not_finite_counts_as_zero(at_0):
    """The mean is still over all records: one gradient of zero among them, which has norm 0 <= G,
    so that replacing the record moves the mean by no more than 2G/m, as any other."""
    module = filled(Steep(), seed=1)
    inputs, labels = batch(8, seed=2)
    inputs[at_0, 0] = 0.0
    others = [record for record in range(8) if record != at_0]
    whole = mean_clipped_gradient(module, inputs, labels, 0.5)
    without = mean_clipped_gradient(module, inputs[others], labels[others], 0.5)
    alone = mean_clipped_gradient(module, inputs[at_0:][:1], labels[at_0:][:1], 0.5)
    np.testing.assert_allclose(whole, without * 7 / 8, rtol=1e-12, atol=1e-15)
    assert not alone.any()


@pytest.mark.parametrize("loss", [functional.cross_entropy, same_loss], ids=["closed", "vmap"])
def test_a_norm_that_is_not_finite_counts_as_zero(loss):
    """Inputs are finite, their squares are not; the model's outputs may be none at all."""
    module = filled(linear(bias=True), seed=1).double()
    inputs, labels = batch(8, seed=2)
    inputs = inputs.double()
    inputs[3] = 1e200
    inputs[5] = torch.tensor([1e308, -1e308], dtype=torch.float64).repeat(FEATURES)[:FEATURES]
    others = [0, 1, 2, 4, 6, 7]
    whole = mean_clipped_gradient(module, inputs, labels, 0.5, loss)
    without = mean_clipped_gradient(module, inputs[others], labels[others], 0.5, loss)
    np.testing.assert_allclose(whole, without * 6 / 8, rtol=1e-12, atol=1e-15)


def test_without_clipping_it_is_torchs_own_gradient():
    module = filled(perceptron(), seed=3).double()
    inputs, labels = batch(25, seed=4)
    functional.cross_entropy(module(inputs.double()), labels).backward()
    expected = torch.cat([p.grad.flatten() for p in module.parameters()]).numpy()
    np.testing.assert_allclose(
        mean_clipped_gradient(module, inputs, labels, 1e9), expected, rtol=1e-10, atol=1e-13
    )


def test_batches_too_large_for_memory_are_summed_in_parts():
    """2,200 examples of 7,850 parameters: two parts of at most 2^24 values."""
    module = filled(nn.Linear(784, 10), seed=5)
    inputs, labels = batch(2200, seed=6, shape=(784,))
    np.testing.assert_allclose(
        mean_clipped_gradient(module, inputs, labels, 1.0, same_loss),
        mean_clipped_gradient(module, inputs, labels, 1.0),
        rtol=1e-9,
        atol=1e-14,
    )


def test_nothing_of_the_module_is_changed():
    module = filled(perceptron(), seed=1)
    before = [p.clone() for p in module.parameters()]
    mean_clipped_gradient(module, *batch(5, seed=2), 1.0)
    assert all(p.grad is None and p.dtype == torch.float32 for p in module.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))


@given(st.sampled_from(list(MODELS)), st.floats(1e-4, 10), st.integers(1, 8), st.integers(0, 999))
def test_no_mean_is_longer_than_the_clip(model, clip_norm, count, seed):
    gradient = mean_clipped_gradient(filled(MODELS[model](), seed), *batch(count, seed), clip_norm)
    assert np.linalg.norm(gradient) <= clip_norm * (1 + 1e-9)


@given(
    model=st.sampled_from(list(MODELS)),
    learning_rate=st.floats(0.01, 100),
    clip_norm=st.floats(0.01, 10),
    clip=st.floats(1e-4, 1),
    count=st.integers(1, 12),
    seed=st.integers(0, 999),
    data=st.data(),
)
def test_replacing_a_record_moves_the_normalised_update_by_at_most_s(
    model, learning_rate, clip_norm, clip, count, seed, data
):
    """The whole chain that the record-level guarantee starts from."""
    training = LocalTraining(learning_rate, clip, count, clip_norm)
    step, module = ClippedStep(training), filled(MODELS[model](), seed)
    inputs, labels = batch(count, seed)
    replaced = data.draw(st.integers(0, count - 1))
    values = st.floats(-1e3, 1e3, width=32)
    other_inputs, other_labels = inputs.clone(), labels.clone()
    other_inputs[replaced] = torch.tensor(
        data.draw(st.lists(values, min_size=FEATURES, max_size=FEATURES))
    )
    other_labels[replaced] = data.draw(st.integers(0, CLASSES - 1))
    here = normalise(step.update(module, inputs, labels), clip)
    there = normalise(step.update(module, other_inputs, other_labels), clip)
    assert training.sensitivity is not None
    assert np.linalg.norm(here - there) <= training.sensitivity


def test_the_bound_on_one_record_is_attained():
    """Two clipped gradients of opposite directions: the update moves by exactly lr G / (m C)."""
    module = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        module.weight.zero_()
    training = LocalTraining(learning_rate=0.1, clip=0.5, records=2, clip_norm=0.2)
    step, labels = ClippedStep(training), torch.tensor([0, 0])
    here = step.update(module, torch.tensor([[0.0], [100.0]]), labels)
    there = step.update(module, torch.tensor([[0.0], [-100.0]]), labels)
    moved = np.linalg.norm(normalise(here, 0.5) - normalise(there, 0.5))
    assert moved == pytest.approx(0.1 * 0.2 / (2 * 0.5))


@pytest.mark.parametrize("clip_norm", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_clip_is_refused(clip_norm):
    with pytest.raises(ParameterError, match="per-example clip G"):
        mean_clipped_gradient(linear(bias=True), *batch(3, seed=1), clip_norm)


def test_an_empty_or_uneven_batch_is_refused():
    inputs, labels = batch(3, seed=1)
    with pytest.raises(ParameterError, match="0 inputs"):
        mean_clipped_gradient(linear(bias=True), inputs[:0], labels[:0], 1.0)
    with pytest.raises(ParameterError, match="3 inputs and 2 targets"):
        mean_clipped_gradient(linear(bias=True), inputs, labels[:2], 1.0)


def test_a_loss_of_ones_own():
    """Squared error with real targets: the gradient of (wx - y)^2 is 2 x (wx - y), clipped."""
    module = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        module.weight.fill_(1.0)
    inputs, targets = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.5], [0.0]])
    gradient = mean_clipped_gradient(module, inputs, targets, 3.0, functional.mse_loss)
    assert gradient.tolist() == [(1.0 + 3.0) / 2]
