"""Dealing one data set out to many clients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm_client.errors import TaskError
from fedperm_client.tasks.partition import Partition

LABELS = st.lists(st.integers(0, 9), min_size=60, max_size=300).map(np.array)
PARTITIONS = st.builds(
    Partition,
    shards=st.integers(1, 12),
    alpha=st.sampled_from([0.01, 0.1, 1.0, 100.0]),
    seed=st.integers(0, 2**63 - 1),
    min_records=st.integers(1, 5),
)


@given(labels=LABELS, partition=PARTITIONS)
def test_every_record_is_in_exactly_one_shard(labels, partition):
    dealt = np.concatenate(partition.cut(labels))
    assert sorted(dealt.tolist()) == list(range(len(labels)))


@given(labels=LABELS, partition=PARTITIONS)
def test_every_shard_has_enough_records(labels, partition):
    shards = partition.cut(labels)
    assert len(shards) == partition.shards
    assert min(map(len, shards)) >= partition.min_records


@given(labels=LABELS, partition=PARTITIONS)
def test_every_client_computes_the_same_partition(labels, partition):
    for one, other in zip(partition.cut(labels), partition.cut(labels), strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_seed_deals_otherwise():
    labels = np.repeat(np.arange(10), 50)
    one, other = (Partition(4, 1.0, seed, 5).cut(labels)[0].tolist() for seed in (1, 2))
    assert one != other


def shares(labels, alpha):
    """Of each class (row) in each of five shards (column)."""
    shards = Partition(5, alpha, 3, 1).cut(labels)
    classes = int(labels.max()) + 1
    counts = np.array([np.bincount(labels[shard], minlength=classes) for shard in shards]).T
    return counts / counts.sum(axis=1, keepdims=True)


def test_a_large_alpha_gives_everybody_a_like_part_of_every_class():
    labels = np.repeat(np.arange(10), 1000)
    assert np.abs(shares(labels, 1e6) - 1 / 5).max() < 0.01


@pytest.mark.parametrize("alpha", [0.05, 1.0, 20.0])
def test_shares_are_as_unequal_as_a_dirichlet_law_makes_them(alpha):
    """The squared shares of a class add up to (alpha + 1) / (5 alpha + 1) in expectation; four
    deviations of the mean over 1000 classes are below 0.03 for every alpha."""
    labels = np.repeat(np.arange(1000), 100)
    squares = (shares(labels, alpha) ** 2).sum(axis=1).mean()
    assert abs(squares - (alpha + 1) / (5 * alpha + 1)) < 0.03


def test_too_few_records_are_refused():
    with pytest.raises(TaskError, match=r"99 records are too few for 10 shards of at least 10"):
        Partition(10, 1.0, 0, 10).cut(np.zeros(99))
