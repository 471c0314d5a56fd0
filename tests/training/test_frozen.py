"""Only what is trained travels: frozen parts stay as they are, and are the same everywhere."""

from random import Random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from fedperm.privacy.record_level import LocalTraining
from fedperm_client.errors import TaskError
from fedperm_client.tasks.task import Examples
from fedperm_client.training.learner import Learner
from fedperm_client.training.parameters import (
    constants_sha256,
    flatten,
    load,
    tensors_of,
)
from fedperm_client.training.per_example import mean_clipped_gradient
from fedperm_client.training.sgd import LocalSgd
from tests.training.models import CLASSES, FEATURES, batch, filled
from tests.training.test_learner import PROTECTED, UNPROTECTED, Toy, fitting

HIDDEN = 5


def backbone(seed: int = 3) -> nn.Module:
    """With statistics of some data that it was made for."""
    norm = nn.BatchNorm1d(HIDDEN)
    norm.running_mean.fill_(0.25)
    layers = nn.Sequential(nn.Linear(FEATURES, HIDDEN), norm, nn.Dropout(0.5), nn.Tanh())
    return filled(layers, seed).requires_grad_(requires_grad=False)


def head() -> nn.Module:
    return filled(nn.Linear(HIDDEN, CLASSES), seed=4)


def whole() -> nn.Module:
    return nn.Sequential(backbone(), head())


def features(inputs: torch.Tensor) -> torch.Tensor:
    return backbone().eval()(inputs)


def test_the_vector_holds_the_trained_parameters_only():
    module = whole()
    assert [tensor.name for tensor in tensors_of(module)] == ["1.weight", "1.bias"]
    vector = flatten(module)
    np.testing.assert_array_equal(vector, flatten(head()))
    before = constants_sha256(module)
    load(module, vector + 1)
    np.testing.assert_allclose(flatten(module), vector + 1, atol=1e-6)
    assert constants_sha256(module) == before


@pytest.mark.parametrize("batch_size", [None, 3])
def test_plain_training_is_that_of_the_head_on_fixed_features(batch_size):
    inputs, labels = batch(8, seed=1)
    sgd = LocalSgd(0.5, 2, batch_size, functional.cross_entropy)
    update = sgd.update(whole(), Examples(inputs, labels), Random(1))
    expected = sgd.update(head(), Examples(features(inputs), labels), Random(1))
    np.testing.assert_allclose(update, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", [functional.cross_entropy, functional.nll_loss])
def test_clipped_gradients_are_those_of_the_head_on_fixed_features(loss):
    inputs, labels = batch(8, seed=1)
    gradient = mean_clipped_gradient(whole().eval(), inputs, labels, 0.1, loss)
    expected = mean_clipped_gradient(head().eval(), features(inputs), labels, 0.1, loss)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_a_linear_model_with_a_frozen_part_has_gradients_of_the_rest():
    frozen = head()
    frozen.bias.requires_grad_(requires_grad=False)
    inputs, labels = batch(8, seed=1, shape=(HIDDEN,))
    gradient = mean_clipped_gradient(frozen, inputs, labels, 1e9)
    expected = mean_clipped_gradient(head(), inputs, labels, 1e9)
    np.testing.assert_allclose(gradient, expected[: HIDDEN * CLASSES], rtol=1e-9)


@pytest.mark.parametrize("promise", [UNPROTECTED, PROTECTED])
def test_a_learner_trains_the_head_and_leaves_the_rest_alone(promise: LocalTraining):
    task = Toy(whole(), Examples(*batch(128, seed=1)))
    before = constants_sha256(task.model())
    learner = Learner(task, fitting(task), promise)
    update = learner.update(flatten(task.model()), Random(1))
    assert update.size == HIDDEN * CLASSES + CLASSES
    assert np.count_nonzero(update) == update.size
    assert constants_sha256(task.model()) == before


def test_another_frozen_part_than_the_runs_is_refused():
    task = Toy(whole())
    other = Toy(nn.Sequential(backbone(seed=9), head()))
    with pytest.raises(TaskError, match="constants are not the run's") as refusal:
        Learner(other, fitting(task), UNPROTECTED)
    assert "one file" in refusal.value.hint


def test_a_constant_that_the_run_does_not_know_is_refused():
    task = Toy(head(), Examples(*batch(8, seed=1, shape=(HIDDEN,))))
    expected = fitting(task)
    task.model().register_buffer("mean_of_own_records", torch.ones(1))
    with pytest.raises(TaskError, match="constants are not the run's"):
        Learner(task, expected, UNPROTECTED)


class Drawn(Toy):
    """Its frozen part is drawn anew each time."""

    def model(self):
        frozen = nn.Linear(FEATURES, HIDDEN).requires_grad_(requires_grad=False)
        return nn.Sequential(frozen, head())


def test_a_frozen_part_that_is_drawn_anew_is_refused():
    with pytest.raises(TaskError, match=r"0.weight is not trained, and is another") as refusal:
        Learner(Drawn(), fitting(Drawn()), UNPROTECTED)
    assert "manual_seed" in refusal.value.hint
