"""Models sealed to the holders of a key epoch: the same for all of them, nothing for others."""

import copy
import pickle
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import BodyError, UntrustedError
from fedperm.lineage import Lineage
from fedperm.schemes.paillier.scheme import Paillier
from fedperm.wire.checkpoint import decode_sealed, encode_sealed, sealed_body
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.custody import SHARED
from fedperm_secret.reader_key import ReaderKey, SealedPlace
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes
from tests.keys.secrecy import pieces_shown

PLACE = SealedPlace("demo", "d0" * 32, Lineage(7, "a1" * 32), 2)
OTHERS = [
    replace(PLACE, run="other"),
    replace(PLACE, document="d1" * 32),
    replace(PLACE, lineage=Lineage(8, PLACE.lineage.sha256)),
    replace(PLACE, lineage=Lineage(7, "a2" * 32)),
    replace(PLACE, epoch=3),
]
KEY, STRANGER = ReaderKey(b"of epoch 2"), ReaderKey(b"of epoch 3")
models = st.binary(min_size=1, max_size=200)


@given(models)
def test_what_is_sealed_opens_and_is_the_same_for_all_who_hold_the_epoch(model):
    sealed = KEY.seal(model, PLACE)
    assert sealed == ReaderKey(b"of epoch 2").seal(model, PLACE)
    assert KEY.open(sealed, PLACE) == model
    assert len(sealed) == len(model) + 16


@given(models, st.sampled_from(OTHERS))
def test_in_another_place_the_same_model_is_other_octets_and_does_not_open(model, other):
    """So two clients that were shown different aggregates have nothing that can be compared."""
    sealed = KEY.seal(model, PLACE)
    assert sealed != KEY.seal(model, other)
    with pytest.raises(UntrustedError, match="does not open"):
        KEY.open(sealed, other)


@given(models, st.data())
def test_a_flipped_bit_or_another_key_does_not_open(model, data):
    sealed = KEY.seal(model, PLACE)
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    flipped = bytearray(sealed)
    flipped[bit // 8] ^= 1 << bit % 8
    for key, octets in ((KEY, bytes(flipped)), (STRANGER, sealed), (KEY, sealed[:-1]), (KEY, b"")):
        with pytest.raises(UntrustedError, match="does not open"):
            key.open(octets, PLACE)


def test_all_holders_of_a_shared_key_have_its_reader_key(small_key):
    scheme = Paillier(512, insecure_for_tests=True)
    octets = secret_key_to_bytes(small_key, SECRET_KEY_ACCESS)
    received = secret_key_from_bytes(octets, SECRET_KEY_ACCESS, insecure_for_tests=True)
    other = generate_key(Random(8), 512, insecure_for_tests=True)
    sealed = [SHARED.reader_key(key, scheme).seal(b"model", PLACE) for key in (small_key, received)]
    assert sealed[0] == sealed[1] == ReaderKey(octets).seal(b"model", PLACE)
    assert SHARED.reader_key(other, scheme).seal(b"model", PLACE) != sealed[0]


def test_a_reader_key_shows_nothing_of_itself(small_key):
    key = SHARED.reader_key(small_key, Paillier(512, insecure_for_tests=True))
    assert not pieces_shown(repr(key) + str(key), small_key)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            duplicate(key)


def test_its_body_has_one_length_and_one_header():
    sealed = bytes(sealed_body(5).tensors[0].shape[0])
    body = encode_sealed(sealed, 5)
    assert decode_sealed(body, 5) == sealed
    for wrong in (body + b"x", body[:-1], encode_sealed(bytes(len(sealed) + 8), 6)):
        with pytest.raises(BodyError):
            decode_sealed(wrong, 5)
