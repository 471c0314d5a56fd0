"""Windows, patterns and permutations for any d, k1, k2."""

import math
from collections import Counter
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedperm.errors import ParameterError
from fedperm.permutation import draw, draw_patterns, shuffle, unshuffle
from fedperm.randomness import from_operating_system
from fedperm.windows import Geometry

geometries = st.builds(Geometry, st.integers(1, 200), st.integers(1, 50), st.integers(1, 8))


@given(geometries)
def test_padding_adds_less_than_a_window_and_is_undone(geometry):
    vector = np.arange(geometry.d, dtype=np.float64)
    padded = geometry.pad(vector, 0.5)
    assert padded.shape == (geometry.windows, geometry.k1)
    assert 0 <= geometry.padded_d - geometry.d < geometry.k1
    assert np.array_equal(geometry.unpad(padded), vector)
    assert (padded.reshape(-1)[geometry.d :] == 0.5).all()


@given(geometries)
def test_each_window_has_one_pattern_and_each_pattern_a_window(geometry):
    owners = {x: p for p in range(geometry.patterns) for x in geometry.windows_of(p)}
    assert owners == {x: geometry.pattern_of(x) for x in range(geometry.windows)}
    sizes = Counter(owners.values())
    assert len(sizes) == geometry.patterns
    assert max(sizes.values()) == geometry.superwindow
    assert geometry.superwindow == math.ceil(geometry.d / (geometry.k1 * geometry.k2))


@given(geometries, st.integers(0, 2**32))
def test_unshuffling_undoes_shuffling(geometry, seed):
    patterns = draw_patterns(geometry, Random(seed))
    windows = geometry.pad(np.arange(geometry.d), -1)
    shuffled = shuffle(windows, patterns, geometry)
    assert np.array_equal(unshuffle(shuffled, patterns, geometry), windows)
    assert np.array_equal(np.sort(shuffled, axis=1), np.sort(windows, axis=1))


@pytest.mark.parametrize(
    ("d", "k1", "k2", "name"), [(0, 3, 1, "d"), (9, 0, 1, "k1"), (9, 3, 0, "k2")]
)
def test_impossible_geometry_says_which_number_is_wrong(d, k1, k2, name):
    with pytest.raises(ParameterError, match=f"^{name} is 0"):
        Geometry(d, k1, k2)


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(ParameterError, match=r"shape \(5,\)"):
        Geometry(6, 3, 1).pad(np.zeros(5), 0)


def test_patterns_of_another_geometry_are_refused():
    geometry = Geometry(12, 3, 2)
    with pytest.raises(ParameterError, match="1 patterns for a geometry that uses 2"):
        shuffle(geometry.pad(np.zeros(12), 0), [draw(3, Random(1))], geometry)


def test_permutations_from_the_operating_system_are_uniform():
    """Chi-square over the 24 orders of 4 positions; false alarm once in a million runs."""
    randomness = from_operating_system()
    seen = Counter(tuple(draw(4, randomness).tolist()) for _ in range(24_000))
    counts = [seen[order] for order in permutations(range(4))]
    assert sum(counts) == 24_000
    assert stats.chisquare(counts).pvalue > 1e-6


def test_patterns_are_drawn_independently():
    first, second = draw_patterns(Geometry(200, 100, 2), from_operating_system())
    assert first.tolist() != second.tolist()  # equal once in 100! runs
