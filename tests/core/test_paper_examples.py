"""The paper's two worked figures, by hand: d = 12 parameters 1 .. 12 in windows of k1 = 3."""

from random import Random

import numpy as np
import pytest

from fedperm.aggregation import BoundedUpdate, fold
from fedperm.blinding import BlindingPool
from fedperm.blobs.files import FileBlobStore
from fedperm.ciphertexts import read_ciphertexts
from fedperm.fold_job import StoredMasks
from fedperm.masks import MaskEncoder
from fedperm.permutation import shuffle, unshuffle
from fedperm.planner import plan
from fedperm.update import Update
from fedperm.windows import Geometry
from fedperm.wire.update import encode_update, update_body
from fedperm_secret.decryption import Decryptor
from fedperm_secret.fixed_base import SecretBlinding
from tests.core.federation import IN_THIS_PROCESS, decrypted_sum

THETA = np.arange(1, 13)
PI = np.array([3, 1, 2]) - 1
PI_2 = np.array([2, 3, 1]) - 1
ONE_PATTERN = [[3, 1, 2], [6, 4, 5], [9, 7, 8], [12, 10, 11]]
TWO_PATTERNS = [[3, 1, 2], [5, 6, 4], [9, 7, 8], [11, 12, 10]]


@pytest.mark.parametrize(
    ("k2", "patterns", "expected"), [(1, [PI], ONE_PATTERN), (2, [PI, PI_2], TWO_PATTERNS)]
)
def test_windows_are_shuffled_as_in_the_figures(k2, patterns, expected):
    geometry = Geometry(12, 3, k2)
    windows = geometry.pad(THETA, 0)
    shuffled = shuffle(windows, patterns, geometry)
    assert shuffled.tolist() == expected
    assert np.array_equal(unshuffle(shuffled, patterns, geometry), windows)


def test_one_pattern_moves_whole_superwindows():
    geometry = Geometry(12, 3, 1)
    superwindows = geometry.pad(THETA, 0).T
    assert superwindows.tolist() == [[1, 4, 7, 10], [2, 5, 8, 11], [3, 6, 9, 12]]  # A, B, C
    shuffled = shuffle(superwindows.T, [PI], geometry).T
    assert shuffled.tolist() == [[3, 6, 9, 12], [1, 4, 7, 10], [2, 5, 8, 11]]  # C, A, B
    assert geometry.superwindow == 4


def test_two_patterns_halve_the_superwindow():
    assert Geometry(12, 3, 2).superwindow == 2


def test_the_packed_mask_by_hand(small_key):
    """One client, 4-bit values: a slot is 4 bits, so row i weighs 16^i. Column 1 selects row 3,
    column 2 row 1, column 3 row 2; three ciphertexts stand for the paper's nine."""
    shape = plan(d=12, k1=3, k2=1, clients=1, value_bits=4, key_bits=512)
    packing = shape.packing
    assert (packing.slot_bits, packing.slots, packing.groups) == (4, 127, 1)
    pool = BlindingPool(SecretBlinding(small_key), Random(1))
    masks = MaskEncoder(small_key.public_key, shape).encrypt([PI], pool)
    decryptor = Decryptor(small_key)
    assert [decryptor.decrypt(c) for c in read_ciphertexts(masks)] == [256, 1, 16]


@pytest.mark.parametrize(
    ("k2", "patterns", "shuffled"), [(1, [PI], ONE_PATTERN), (2, [PI, PI_2], TWO_PATTERNS)]
)
def test_the_aggregator_unshuffles_without_the_patterns(
    k2, patterns, shuffled, small_key, tmp_path
):
    """Window 1 becomes 256*3 + 1*1 + 16*2 = 0x321: slots 1, 2, 3."""
    shape = plan(d=12, k1=3, k2=k2, clients=1, value_bits=4, key_bits=512)
    key = small_key.public_key
    pool = BlindingPool(SecretBlinding(small_key), Random(1))
    masks = MaskEncoder(key, shape).encrypt(patterns, pool)
    values = np.array(shuffled, dtype=shape.fixed_point.dtype)
    upload = FileBlobStore(tmp_path).write("it", encode_update(Update(values, masks), shape, key))
    stored = StoredMasks(upload, update_body(shape, key).offset_of("masks"))
    total, _ = fold([BoundedUpdate(stored, values)], shape, key, IN_THIS_PROCESS)
    assert Decryptor(small_key).decrypt(total.ciphertexts[0][0]) == 0x321
    assert decrypted_sum(total, shape, small_key).reshape(-1).tolist() == list(range(1, 13))
