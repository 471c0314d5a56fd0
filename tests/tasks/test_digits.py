"""scikit-learn's digits as a task."""

import pytest
import torch
from sklearn.datasets import load_digits

from fedperm_client.errors import TaskError
from fedperm_client.tasks.digits import Digits
from tests.tasks.contexts import context


def rows(examples) -> set[bytes]:
    return {image.numpy().tobytes() for image in examples.inputs}


def test_all_images_are_test_data_or_in_one_shard():
    shards = [Digits(context(shard=s, shards=5)).training_data() for s in range(5)]
    public = Digits(context()).test_data()
    assert sum(map(len, shards)) + len(public) == len(load_digits().target) == 1797
    assert len(public) == 360


def test_no_test_image_is_trained_on():
    assert not rows(Digits(context()).test_data()) & rows(Digits(context()).training_data())


def test_the_test_data_are_the_same_for_every_client_and_option():
    one = Digits(context({"seed": 1, "alpha": 0.2}, shard=0, shards=3)).test_data()
    other = Digits(context({"model": "cnn"}, shard=2, shards=3)).test_data()
    assert torch.equal(one.inputs, other.inputs)
    assert torch.equal(one.targets, other.targets)


def test_every_class_is_tested():
    counts = torch.bincount(Digits(context()).test_data().targets)
    assert len(counts) == 10
    assert int(counts.min()) > 20


def test_pixels_are_normalised():
    inputs = Digits(context()).training_data().inputs
    assert inputs.shape[1:] == (1, 8, 8)
    assert (float(inputs.min()), float(inputs.max())) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, 64 * 10 + 10),
        ({"model": "logistic"}, 64 * 10 + 10),
        ({"model": "mlp", "hidden": 7}, 64 * 7 + 7 + 7 * 10 + 10),
        ({"model": "cnn"}, 8 * 9 + 8 + 16 * 8 * 9 + 16 + 16 * 2 * 2 * 10 + 10),
    ],
)
def test_the_model_is_chosen_by_an_option(options, parameters):
    task = Digits(context(options))
    module = task.model()
    assert sum(p.numel() for p in module.parameters()) == parameters
    assert module(task.test_data().inputs[:3]).shape == (3, 10)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"modle": "mlp"}, "modle"),
        ({"model": "transformer"}, "model"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"seed": "one"}, "seed"),
        ({"hidden": 1.5}, "hidden"),
    ],
)
def test_wrong_options_are_refused_and_the_known_ones_named(options, wrong):
    with pytest.raises(TaskError, match=f"options are wrong: {wrong}") as refusal:
        Digits(context(options))
    assert "model, filter, hidden, alpha, seed, min_records" in refusal.value.hint


@pytest.mark.parametrize("shard", [-1, 3])
def test_a_shard_that_does_not_exist_is_refused(shard):
    with pytest.raises(TaskError, match=f"shard {shard} of 3"):
        Digits(context(shard=shard, shards=3))
