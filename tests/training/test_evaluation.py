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
