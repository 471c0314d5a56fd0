"""What is written is read back, and it is what the safetensors library writes and reads."""

import numpy as np
import pytest
import safetensors.numpy
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.aggregate import EncryptedSum, aggregate_body, decode_aggregate, encode_aggregate
from fedperm.planner import plan as make_plan
from fedperm.schemes.paillier.scheme import Paillier
from tests.core.federation import checked, half_of, numbers
from tests.wire.small_messages import (
    KEY_BITS,
    key_of,
    random_aggregate,
    random_update,
    small_plans,
    update_body,
)

seeds = st.integers(0, 2**32)


def assert_same_array(left, right):
    assert left.dtype == right.dtype
    assert np.array_equal(left, right)


@given(plan=small_plans, seed=seeds)
def test_an_update_is_read_back(plan, seed):
    update = random_update(plan, seed)
    body = update_body(plan).encode(update)
    assert len(body) == update_body(plan).size
    decoded = checked(body, plan, key_of(plan.scheme.key_bits).public_key)
    assert_same_array(decoded["values"], update["values"])
    assert_same_array(decoded["masks"], update["masks"])


@given(plan=small_plans, seed=seeds)
def test_an_aggregate_is_read_back(plan, seed):
    half = half_of(plan, key_of(plan.scheme.key_bits).public_key)
    total = random_aggregate(plan, seed)
    body = encode_aggregate(total, plan)
    assert len(body) == aggregate_body(plan).size
    decoded = decode_aggregate(body, plan, half)
    assert decoded.contributors == total.contributors
    assert numbers(decoded.arrays) == numbers(total.arrays)


@given(plan=small_plans, seed=seeds)
def test_an_update_is_what_safetensors_writes_and_reads(plan, seed):
    update = random_update(plan, seed)
    body = update_body(plan).encode(update)
    assert safetensors.numpy.save(dict(update)) == body
    loaded = safetensors.numpy.load(body)
    assert loaded.keys() == {"values", "masks"}
    assert_same_array(loaded["values"], update["values"])
    assert_same_array(loaded["masks"], update["masks"])


@given(plan=small_plans, seed=seeds)
def test_an_aggregate_is_what_safetensors_writes_and_reads(plan, seed):
    total = random_aggregate(plan, seed)
    body = encode_aggregate(total, plan)
    width = plan.scheme.key_bits // 4
    rows = numbers(total.arrays)
    octets = [list(int(c).to_bytes(width, "little")) for row in rows for c in row]
    shape = (plan.geometry.windows, plan.layout.packing.groups, width)
    ciphertexts = np.array(octets, np.uint8).reshape(shape)
    contributors = np.array([total.contributors], np.uint32)
    arrays = {"ciphertexts": ciphertexts, "contributors": contributors}
    assert safetensors.numpy.save(arrays) == body
    loaded = safetensors.numpy.load(body)
    assert loaded.keys() == arrays.keys()
    assert_same_array(loaded["ciphertexts"], ciphertexts)
    assert_same_array(loaded["contributors"], contributors)


def test_an_aggregate_by_hand():
    """Wider types first: the count lies before the ciphertexts, each number lowest octet first."""
    plan = make_plan(d=1, k1=1, k2=1, clients=3, value_bits=4, scheme=Paillier(64))
    ciphertexts = key_of(64).public_key.to_array([mpz(0x0102)], 1, 1)
    body = encode_aggregate(EncryptedSum({"ciphertexts": ciphertexts}, 3), plan)
    header = (
        b'{"contributors":{"dtype":"U32","shape":[1],"data_offsets":[0,4]},'
        b'"ciphertexts":{"dtype":"U8","shape":[1,1,16],"data_offsets":[4,20]}}   '
    )
    data = b"\x03\x00\x00\x00" + b"\x02\x01" + bytes(14)
    assert body == b"\x88" + bytes(7) + header + data


@pytest.mark.parametrize(
    ("value_bits", "dtype"),
    [(1, "U8"), (8, "U8"), (9, "U16"), (16, "U16"), (17, "U32"), (20, "U32")],
)
def test_values_travel_in_the_smallest_type_that_holds_them(value_bits, dtype):
    plan = make_plan(d=2, k1=2, k2=1, clients=1, value_bits=value_bits, scheme=Paillier(KEY_BITS))
    header = update_body(plan).header
    assert f'"values":{{"dtype":"{dtype}","shape":[1,2]'.encode() in header


@settings(max_examples=20)
@given(plan=small_plans, seed=seeds)
def test_offset_of_says_where_a_tensor_begins(plan, seed):
    update, layout = random_update(plan, seed), update_body(plan)
    body = layout.encode(update)
    for name, array in update.items():
        start = layout.offset_of(name)
        assert body[start : start + array.nbytes] == array.tobytes()


def test_a_decoded_update_is_a_view_of_the_body_and_not_a_copy():
    plan = make_plan(d=5, k1=3, k2=2, clients=4, value_bits=12, scheme=Paillier(KEY_BITS))
    public_key = key_of(KEY_BITS).public_key
    body = bytearray(update_body(plan).encode(random_update(plan, seed=2)))
    decoded = checked(memoryview(body), plan, public_key)
    raw = np.frombuffer(body, np.uint8)
    assert np.shares_memory(decoded["values"], raw)
    assert np.shares_memory(decoded["masks"], raw)
