"""Fixed filters of single images."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fedperm_client.errors import TaskError
from fedperm_client.tasks.digits import Digits
from fedperm_client.tasks.filters import FilterName, filtered
from tests.tasks.contexts import context

SIDE = 8
grey = st.floats(0, 1, width=32)
images = arrays.arrays(np.float32, (3, SIDE, SIDE), elements=grey)


def orientations(image: np.ndarray) -> np.ndarray:
    """(copy, direction, row of cells, column of cells) of one image."""
    cells = image.shape[0] // 4
    return filtered(image[None], FilterName.ORIENTATIONS).reshape(2, 8, cells, cells)


@given(images)
def test_an_image_is_filtered_by_itself(some):
    """What is promised for one record rests on it."""
    together = filtered(some, FilterName.ORIENTATIONS)
    alone = np.concatenate([filtered(one[None], FilterName.ORIENTATIONS) for one in some])
    np.testing.assert_array_equal(together, alone)


@given(images)
def test_features_are_as_many_as_pixels_centred_and_scaled(some):
    features = filtered(some, FilterName.ORIENTATIONS)
    assert features.shape == some.shape
    assert features.dtype == np.float32
    flat = features.reshape(len(some), -1)
    np.testing.assert_allclose(flat.mean(axis=1), 0, atol=1e-4)
    assert flat.std(axis=1).max() < 1.001


def test_no_filter_changes_nothing():
    some = np.random.default_rng(1).random((2, SIDE, SIDE), np.float32)
    assert filtered(some, FilterName.NONE) is some


def test_an_image_without_edges_is_zero():
    assert not orientations(np.full((SIDE, SIDE), 0.7, np.float32)).any()


def test_an_edge_counts_for_its_direction_and_its_cells():
    """Dark left of column 2, bright from there on: brightness rises to the right, which is
    direction 0, in the left cells; turned, it rises downwards, direction 2, in the upper ones."""
    image = np.zeros((SIDE, SIDE), np.float32)
    image[:, 2:] = 1
    first, second = orientations(image)
    np.testing.assert_array_equal(first, second)
    others = np.delete(first, 0, axis=0)
    assert first[0, :, 0].min() > first[0, :, 1].max() >= others.max()
    np.testing.assert_allclose(orientations(image.T)[0][2], first[0].T, atol=1e-5)


def test_images_without_whole_cells_are_refused():
    with pytest.raises(TaskError, match="no whole cells"):
        filtered(np.zeros((1, 6, 6), np.float32), FilterName.ORIENTATIONS)


def test_a_task_filters_what_it_trains_on_and_what_it_is_tested_on():
    plain, fine = Digits(context()), Digits(context({"filter": "orientations"}))
    for part in ("training_data", "test_data"):
        before, after = getattr(plain, part)(), getattr(fine, part)()
        assert torch.equal(before.targets, after.targets)
        expected = filtered(before.inputs.squeeze(1).numpy(), FilterName.ORIENTATIONS)
        np.testing.assert_array_equal(after.inputs.squeeze(1).numpy(), expected)


def test_a_convolution_of_what_is_no_picture_is_refused():
    with pytest.raises(TaskError, match="no picture"):
        Digits(context({"filter": "orientations", "model": "cnn"}))
