"""Loss and accuracy against hand-worked numbers."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from fedperm_client.tasks.task import Examples
from fedperm_client.training.evaluation import evaluate


def test_accuracy_counts_the_largest_score_and_loss_is_the_mean():
    scores = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    result = evaluate(
        nn.Identity(), Examples(scores, torch.tensor([0, 0, 1])), functional.cross_entropy
    )
    losses = [math.log(1 + math.exp(x)) for x in (-2, 1, -3)]
    assert result.accuracy == pytest.approx(2 / 3)
    assert result.loss == pytest.approx(sum(losses) / 3)


def hinge(outputs, targets):
    return functional.relu(1 - (2 * targets - 1) * outputs.squeeze(1)).mean()


def binary(loss, **more):
    """Targets as most people have them, brought into the form that torch wants."""
    return lambda outputs, targets: loss(outputs.squeeze(1), targets.flatten().float(), **more)


LOGITS, PROBABILITIES = [[-2.0], [-0.1], [0.2], [0.3]], [[0.1], [0.4], [0.3], [0.9]]


@pytest.mark.parametrize(
    ("outputs", "loss"),
    [
        (LOGITS, binary(functional.binary_cross_entropy_with_logits)),
        (LOGITS, binary(functional.binary_cross_entropy_with_logits, pos_weight=torch.tensor(9.0))),
        (LOGITS, hinge),
        (PROBABILITIES, binary(functional.binary_cross_entropy)),
        (PROBABILITIES, binary(functional.mse_loss)),
    ],
)
def test_one_output_stands_for_two_classes_and_the_loss_says_where_they_part(outputs, loss):
    """The third record is on the wrong side, of 0 or of a half."""
    labels = torch.tensor([0, 0, 1 if outputs is PROBABILITIES else 0, 1])
    for targets in (labels, labels.float()):
        examples = Examples(torch.tensor(outputs), targets)
        assert evaluate(nn.Identity(), examples, loss).accuracy == 0.75


@pytest.mark.parametrize("targets", [[0, 1, 2], [-1, 1, 1]])
def test_one_output_does_not_stand_for_other_classes(targets):
    examples = Examples(torch.zeros(3, 1), torch.tensor(targets))
    assert evaluate(nn.Identity(), examples, binary(functional.mse_loss)).accuracy is None


def test_many_records_are_weighed_alike_however_they_are_batched():
    """2049 records are two batches of very different size."""
    outputs = torch.zeros(2049, 1)
    targets = torch.zeros(2049, 1)
    targets[-1] = 2049.0**0.5
    assert evaluate(nn.Identity(), Examples(outputs, targets), functional.mse_loss).loss == (
        pytest.approx(1.0)
    )


def test_regression_has_no_accuracy():
    examples = Examples(torch.zeros(3, 1), torch.ones(3, 1))
    assert evaluate(nn.Identity(), examples, functional.mse_loss).accuracy is None


def test_the_module_is_evaluated_without_dropout():
    examples = Examples(torch.ones(100, 1), torch.ones(100, 1))
    assert evaluate(nn.Dropout(0.5), examples, functional.mse_loss).loss == 0.0
