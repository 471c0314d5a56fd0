"""A task becomes numbers, or is refused before the first round."""

from dataclasses import replace
from functools import partial
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


def test_a_model_without_gradients_of_one_record_stays_out_of_a_protected_run():
    norm = nn.BatchNorm1d(FEATURES, track_running_stats=False)
    task = Toy(nn.Sequential(norm, linear(bias=True)))
    Learner(task, fitting(task), UNPROTECTED)
    with pytest.raises(PreconditionError, match="mixes all examples"):
        Learner(task, fitting(task), replace(PROTECTED, records=8))


class Deciding(nn.Module):
    """Looks at the values of all its inputs to decide what to compute."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)

    def forward(self, inputs):
        return self.layer(inputs if inputs.sum() > 0 else -inputs)


def test_a_model_that_cannot_be_tried_record_by_record_stays_out_of_a_protected_run():
    task = Toy(Deciding())
    Learner(task, fitting(task), UNPROTECTED)
    with pytest.raises(PreconditionError, match="gradient of one record alone") as refusal:
        Learner(task, fitting(task), replace(PROTECTED, records=8))
    assert "no item()" in refusal.value.hint


class Counting(nn.Module):
    """Keeps a number of its own while it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, inputs):
        self.calls += 1
        return self.layer(inputs)


class Shifted(nn.Module):
    """Has a constant buffer, which is fine."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)
        self.register_buffer("shift", torch.ones(FEATURES))

    def forward(self, inputs):
        return self.layer(inputs + self.shift)


def frozen() -> nn.Module:
    return linear(bias=True).requires_grad_(requires_grad=False)


def test_constant_buffers_are_fine():
    task = Toy(Shifted())
    Learner(task, fitting(task), UNPROTECTED)


class Two(nn.Module):
    """Has two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES)

    def forward(self, inputs):
        return self.layer(inputs), inputs


class Detached(Two):
    def forward(self, inputs):
        return self.layer(inputs).detach()


def of_arrays() -> Examples:
    return Examples(*(values.numpy() for values in batch(8, seed=1)))


def spoilt(value: float = 0.0, label: int = 0) -> Examples:
    """The last record is unlike the others."""
    inputs, labels = batch(8, seed=1)
    inputs[-1], labels[-1] = value, label
    return Examples(inputs, labels)


def float_labels() -> Examples:
    inputs, labels = batch(8, seed=1)
    return Examples(inputs, labels.float())


def normalised() -> nn.Module:
    return nn.Sequential(nn.BatchNorm1d(FEATURES), linear(bias=True))


def examples(inputs: int, targets: int) -> Examples:
    return Examples(torch.zeros(inputs, FEATURES), torch.zeros(targets))


@pytest.mark.parametrize(
    ("parts", "problem", "way_out"),
    [
        ({"module": normalised()}, "buffer 0.running_mean", "GroupNorm"),
        ({"module": Counting()}, "buffer calls", "constant"),
        ({"module": Counting().double()}, "float32.*same dtype", "inputs.float"),
        ({"module": Two()}, "output is tuple", "one tensor"),
        ({"module": Detached()}, "does not depend on what is trained", "detach"),
        ({"module": nn.Linear(FEATURES + 1, CLASSES)}, "on the first records", "shapes"),
        ({"training": examples(3, 2)}, "3 inputs and 2 targets", "one target"),
        ({"training": examples(0, 0)}, "0 inputs", "at least one"),
        ({"training": batch(3, seed=1)}, "training_data.* gives tuple", "Examples"),
        ({"test": batch(3, seed=1)}, "test_data.* gives tuple", "Examples"),
        ({"training": of_arrays()}, "inputs of training_data.* are ndarray", "torch.as_tensor"),
        ({"training": Examples(torch.tensor(1.0), torch.tensor(1))}, "one number", "axis 0"),
        ({"training": spoilt(float("nan"))}, "inputs of training_data.* NaN", "repair"),
        ({"training": spoilt(label=CLASSES)}, "records of training_data.*out of bounds", "labels"),
        ({"test": spoilt(label=CLASSES)}, "records of test_data.*out of bounds", "labels"),
        ({"training": float_labels()}, r"targets float32 \[2\].*Long", r"targets.long"),
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
        (partial(functional.cross_entropy, reduction="none"), r"has the shape \[2\]", "mean"),
        (partial(functional.cross_entropy, reduction="sum"), "is a sum over records", "mean"),
        (lambda _outputs, _targets: 0.5, "gives float", "a tensor"),
        (lambda outputs, _targets: outputs.nonsense, "no attribute", "shapes and types"),
        (lambda outputs, targets: functional.mse_loss(outputs[:, :1], targets.float()),
         "Using a target size", "outputs' shape"),
        (lambda outputs, _targets: torch.log(outputs.mean() * 0), "data.* is -inf", "guard"),
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
    ],
)
def test_a_model_that_no_run_could_have_is_refused(module, problem):
    with pytest.raises(TaskError, match=problem):
        Learner(Toy(module), document(), UNPROTECTED)


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
    with pytest.raises(TaskError, match="it has 4 tensors, the run 2"):
        Learner(task, short, UNPROTECTED)


def test_the_training_spec_and_the_promise_agree_on_what_protects_records():
    with pytest.raises(ValueError, match="one full-batch step"):
        TrainingSpec(learning_rate=0.1, record_clip_norm=1.0, batch_size=32)
