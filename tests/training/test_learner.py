"""A task becomes numbers, or is refused before the first round."""

from dataclasses import replace
from functools import partial
from itertools import count
from random import Random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from fedperm.errors import PreconditionError
from fedperm.privacy.record_level import LocalTraining
from fedperm.run_document import TrainingSpec
from fedperm.wire.model import decode_model
from fedperm_client.errors import TaskError
from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.task import Examples
from fedperm_client.training.evaluation import evaluate
from fedperm_client.training.learner import Learner
from fedperm_client.training.parameters import constants_sha256, load, tensors_of
from fedperm_client.training.per_example import ClippedStep
from fedperm_client.training.sgd import LocalSgd
from tests.client.documents import DIGITS, document
from tests.tasks.contexts import context
from tests.training.models import CLASSES, FEATURES, batch, linear
from tests.training.odd_models import (
    Counting,
    Deciding,
    Detached,
    Masked,
    Recurrent,
    Rooted,
    RootedAtRest,
    Shifted,
    Squeezed,
    Standardised,
    Started,
    Two,
)

START = decode_model(DIGITS.body, DIGITS.spec.parameters)
UNPROTECTED = LocalTraining(learning_rate=0.5, clip=0.1, records=1, clip_norm=None)
PROTECTED = replace(UNPROTECTED, records=100, clip_norm=1.0)


def module_at_start() -> nn.Module:
    module = Digits(context()).model()
    load(module, START)
    return module


class Toy:
    """A task whose parts a test can change."""

    loss = staticmethod(functional.cross_entropy)

    def __init__(self, module=None, training=None, test=None) -> None:
        self._module = linear(bias=True) if module is None else module
        self._training = Examples(*batch(8, seed=1)) if training is None else training
        self._test = test

    def model(self):
        return self._module

    def training_data(self):
        return self._training

    def test_data(self):
        return self._test


def fitting(task):
    """A document whose model is the task's."""
    model = {
        "tensors": [t.model_dump() for t in tensors_of(task.model())],
        "initial_sha256": "0" * 64,
        "constants_sha256": constants_sha256(task.model()),
    }
    return document(model=model)


def test_without_a_record_clip_it_is_local_sgd():
    spec = {"learning_rate": 0.5, "local_epochs": 2, "batch_size": 64}
    task = Digits(context({"alpha": 100.0}, shards=3))
    update = Learner(task, document(training=spec), UNPROTECTED).update(START, Random(4))
    sgd = LocalSgd(0.5, 2, 64, functional.cross_entropy)
    expected = sgd.update(module_at_start(), task.training_data(), Random(4))
    np.testing.assert_array_equal(update, expected)


def test_with_a_record_clip_it_is_the_promised_step():
    spec = {"learning_rate": 0.5, "record_clip_norm": 1.0, "min_records": 100}
    task = Digits(context({"alpha": 100.0}, shards=3))
    update = Learner(task, document(training=spec), PROTECTED).update(START, Random(4))
    data = task.training_data()
    expected = ClippedStep(PROTECTED).update(module_at_start(), data.inputs, data.targets)
    np.testing.assert_array_equal(update, expected)


def test_the_parameters_given_are_evaluated_whatever_was_trained_before():
    task = Digits(context({"alpha": 100.0}, shards=3))
    learner = Learner(task, document(), UNPROTECTED)
    learner.update(START, Random(4))
    expected = evaluate(module_at_start(), task.test_data(), functional.cross_entropy)
    assert learner.test(START) == expected
    own = evaluate(module_at_start(), task.training_data(), functional.cross_entropy)
    assert learner.training_loss(START) == own.loss


def test_a_task_may_have_no_test_data():
    task = Toy()
    learner = Learner(task, fitting(task), UNPROTECTED)
    assert learner.test(np.zeros(28)) is None
    assert learner.records == 8


def test_a_client_with_fewer_records_than_promised_stays_out():
    task = Toy()
    with pytest.raises(PreconditionError, match=r"8 records; .* at least 100"):
        Learner(task, fitting(task), PROTECTED)


def weighted(outputs, targets):
    return functional.cross_entropy(outputs, targets, weight=torch.tensor([1.0, 9.0, 1.0, 1.0]))


def weighted_by_hand(outputs, targets):
    losses = functional.cross_entropy(outputs, targets, reduction="none")
    return (losses * torch.tensor([1.0, 9.0, 1.0, 1.0])[targets]).mean()


@pytest.mark.parametrize(
    ("parts", "loss", "problem", "way_out"),
    [
        ({"module": Deciding()}, None, "gradient of one record alone", "no item()"),
        ({"module": Recurrent()}, None, "gradient of one record", "memory (LSTM) a first state"),
        ({}, weighted, "weights cancel out", 'reduction="none"'),
        ({"module": RootedAtRest()}, None, "alone: the gradient of layer.weight holds", "clamp"),
    ],
)
def test_what_cannot_be_clipped_record_by_record_stays_out_of_a_protected_run(
    parts, loss, problem, way_out
):
    task = Toy(**parts)
    task.loss = loss or task.loss
    Learner(task, fitting(task), UNPROTECTED)
    with pytest.raises(PreconditionError, match=problem) as refusal:
        Learner(task, fitting(task), replace(PROTECTED, records=8))
    assert way_out in refusal.value.hint


@pytest.mark.parametrize("module", [Started(), Masked(), Shifted()])
def test_what_is_fine_takes_part_in_a_protected_run(module):
    task = Toy(module)
    Learner(task, fitting(task), replace(PROTECTED, records=8))


def test_weights_within_a_mean_take_part_in_a_protected_run():
    task = Toy()
    task.loss = weighted_by_hand
    Learner(task, fitting(task), replace(PROTECTED, records=8))


def frozen() -> nn.Module:
    return linear(bias=True).requires_grad_(requires_grad=False)


def of_arrays() -> Examples:
    return Examples(*(values.numpy() for values in batch(8, seed=1)))


def spoilt(value: float = 0.0, label: int = 0) -> Examples:
    """A record that is not among those tried one by one is unlike the others."""
    inputs, labels = batch(40, seed=1)
    inputs[1], labels[1] = value, label
    return Examples(inputs, labels)


def float_labels() -> Examples:
    inputs, labels = batch(8, seed=1)
    return Examples(inputs, labels.float())


def normalised(**settings) -> nn.Module:
    return nn.Sequential(nn.BatchNorm1d(FEATURES, **settings), linear(bias=True))


def undefined(value: float) -> nn.Module:
    module = linear(bias=True)
    nn.init.constant_(module.bias, value)
    return module


def examples(inputs: int, targets: int) -> Examples:
    return Examples(torch.zeros(inputs, FEATURES), torch.zeros(targets))


@pytest.mark.parametrize(
    ("parts", "problem", "way_out"),
    [
        ({"module": Counting()}, "buffer calls", "constant"),
        ({"module": Counting().double()}, "float32.*same dtype", "inputs.float"),
        ({"module": Two()}, "output is tuple", "one tensor"),
        ({"module": Detached()}, "does not depend on what is trained", "detach"),
        ({"module": nn.Linear(FEATURES + 1, CLASSES)}, "on 8 records", "shapes"),
        ({"module": Standardised()}, "depend on the other records", "GroupNorm"),
        ({"module": Squeezed()}, r"of \[32\] one by one", "squeeze(1)"),
        ({"module": Rooted()}, "gradient of layer.weight holds NaN", "clamp"),
        ({"training": examples(3, 2)}, "3 inputs and 2 targets", "one target"),
        ({"training": examples(0, 0)}, "0 inputs", "at least one"),
        ({"training": batch(3, seed=1)}, "training_data.* gives tuple", "Examples"),
        ({"test": batch(3, seed=1)}, "test_data.* gives tuple", "Examples"),
        ({"training": of_arrays()}, "inputs of training_data.* are ndarray", "torch.as_tensor"),
        ({"training": Examples(torch.tensor(1.0), torch.tensor(1))}, "one number", "axis 0"),
        ({"training": spoilt(float("nan"))}, "inputs of training_data.* NaN", "repair"),
        ({"training": spoilt(label=CLASSES)}, "records of training_data.*out of bounds", "labels"),
        ({"test": spoilt(label=CLASSES)}, "records of test_data.*out of bounds", "labels"),
        ({"test": examples(3, 3)}, "records of test_data.*Long", "targets int64 [] each, not"),
        ({"test": Examples(*batch(8, seed=1))}, "gives the records of training", "or None"),
        ({"training": float_labels()}, r"targets float32 \[8\].*Long", r"targets.long"),
    ],
)
def test_a_wrong_task_is_refused_with_a_way_out(parts, problem, way_out):
    task = Toy(**parts)
    with pytest.raises(TaskError, match=problem) as refusal:
        Learner(task, fitting(task), UNPROTECTED)
    assert way_out in refusal.value.hint


@pytest.mark.parametrize(
    ("loss", "problem", "way_out"),
    [
        (partial(functional.cross_entropy, reduction="none"), r"has the shape \[8\]", "mean"),
        (partial(functional.cross_entropy, reduction="sum"), "is a sum over records", "mean"),
        (lambda _outputs, _targets: 0.5, "gives float", "a tensor"),
        (lambda outputs, _targets: outputs.nonsense, "no attribute", "shapes and types"),
        (lambda outputs, targets: functional.mse_loss(outputs[:, :1], targets.float()),
         "Using a target size", "outputs' shape"),
        (lambda outputs, _targets: torch.log(outputs.mean() * 0), "data.* is -inf", "guard"),
        (lambda outputs, targets: (outputs[:, :1] - targets.float()).square().mean(),
         r"shape \[8, 4\], targets \[8\]", "the same shape"),
    ],
)  # fmt: skip
def test_a_wrong_loss_is_refused_with_a_way_out(loss, problem, way_out):
    task = Toy()
    task.loss = loss
    with pytest.raises(TaskError, match=problem) as refusal:
        Learner(task, fitting(task), UNPROTECTED)
    assert way_out in refusal.value.hint


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        (frozen(), "no parameter that is trained"),
        (nn.LazyLinear(CLASSES), "parameter weight has no shape"),
        (normalised(), "0 is a BatchNorm1d"),
        (normalised(track_running_stats=False), "0 is a BatchNorm1d"),
        (nn.Sequential(nn.InstanceNorm1d(1, track_running_stats=True), linear(bias=True)), "0 is"),
        (undefined(float("nan")), "bias holds NaN"),
        (undefined(float("inf")), "bias holds NaN or infinity"),
    ],
)
def test_a_model_that_no_run_could_have_is_refused(module, problem):
    """`run create` notices it as well: none of it needs data."""
    with pytest.raises(TaskError, match=problem):
        Learner(Toy(module), document(), UNPROTECTED)


def test_a_model_of_another_size_each_time_is_refused():
    task = Toy()
    sizes = count(1)
    task.model = lambda: nn.Linear(FEATURES, next(sizes))
    with pytest.raises(TaskError, match=r"weight \[1, 6\] is weight \[2, 6\] at the next call"):
        Learner(task, document(), UNPROTECTED)


@pytest.mark.parametrize("part", ["model", "training_data", "test_data"])
def test_an_error_in_a_part_is_told_with_its_place(part):
    task = Toy()
    expected = fitting(task)
    setattr(task, part, lambda: {}["records.csv"])
    with pytest.raises(TaskError, match=rf"{part}\(\) failed: KeyError: 'records.csv'") as refusal:
        Learner(task, expected, UNPROTECTED)
    assert "test_learner.py, line " in refusal.value.hint


def test_what_is_no_module_is_refused():
    task = Toy()
    task.model = lambda: "linear"
    with pytest.raises(TaskError, match="gives str"):
        Learner(task, document(), UNPROTECTED)


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"model": "mlp"}, r"tensor 1.weight \[32, 64\] is 1.weight \[10, 64\] in the run"),
        ({"model": "cnn"}, r"tensor 0.weight \[8, 1, 3, 3\] is 1.weight"),
    ],
)
def test_another_model_than_the_runs_is_refused(options, difference):
    with pytest.raises(TaskError, match=difference):
        Learner(Digits(context(options)), document(), UNPROTECTED)


def test_a_model_with_more_tensors_than_the_runs_is_refused():
    task = Toy(nn.Sequential(linear(bias=True), nn.Linear(CLASSES, CLASSES)))
    tensors = [t.model_dump() for t in tensors_of(task.model())][:2]
    short = document(model={"tensors": tensors, "initial_sha256": "0" * 64})
    with pytest.raises(TaskError, match="it has 4 tensors, but 2 in the run"):
        Learner(task, short, UNPROTECTED)


def test_the_training_spec_and_the_promise_agree_on_what_protects_records():
    with pytest.raises(ValueError, match="one full-batch step"):
        TrainingSpec(learning_rate=0.1, record_clip_norm=1.0, batch_size=32)
