"""Losses that are means over records, and those that only look like it."""

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from fedperm_client.training.loss_kind import LossKind, kind_of

SCORES = torch.randn(16, 3, generator=torch.Generator().manual_seed(1))
LABELS = torch.arange(16) % 3
FIRST_IGNORED = LABELS.index_fill(0, torch.tensor([0]), -100)
WEIGHTS = torch.tensor([1.0, 0.0, 5.0])

entropy = functional.cross_entropy


def all_with_all(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs[:, :1] - targets).square().mean()


def weighted_by_hand(outputs: Tensor, targets: Tensor) -> Tensor:
    return (WEIGHTS[targets] * entropy(outputs, targets, reduction="none")).mean()


def root_of_mean(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.mse_loss(outputs[:, 0], targets.float()).sqrt()


def contrastive(outputs: Tensor, _targets: Tensor) -> Tensor:
    return entropy(outputs @ outputs.T, torch.arange(len(outputs)))


def of_words(outputs: Tensor, targets: Tensor) -> Tensor:
    return entropy(outputs, targets.flatten())


def in_place(outputs: Tensor, targets: Tensor) -> Tensor:
    return entropy(outputs.mul_(2), targets)


@pytest.mark.parametrize(
    ("loss", "targets", "kind"),
    [
        (entropy, LABELS, LossKind.MEAN),
        (in_place, LABELS, LossKind.MEAN),
        (weighted_by_hand, LABELS, LossKind.MEAN),
        (partial(entropy, reduction="sum"), LABELS, LossKind.SUM),
        (partial(entropy, weight=WEIGHTS), LABELS, LossKind.WEIGHTED_MEAN),
        (entropy, FIRST_IGNORED, LossKind.WEIGHTED_MEAN),
        (all_with_all, LABELS, LossKind.COUPLED),
        (root_of_mean, LABELS, LossKind.COUPLED),
        (contrastive, LABELS, LossKind.COUPLED),
    ],
)
def test_what_a_loss_makes_of_its_records(loss, targets, kind):
    assert kind_of(loss, SCORES, targets) is kind


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (partial(entropy, weight=WEIGHTS), LossKind.WEIGHTED_MEAN),
        (all_with_all, LossKind.COUPLED),
    ],
)
def test_it_is_seen_where_all_outputs_are_zero_at_first(loss, kind):
    assert kind_of(loss, torch.zeros(16, 3), LABELS) is kind


def test_a_record_may_have_several_rows_of_outputs():
    """One a word: 8 records of 2."""
    assert kind_of(of_words, SCORES, LABELS.reshape(8, 2)) is LossKind.MEAN
