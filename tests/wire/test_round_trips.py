"""What is written is read back, and it is what the safetensors library writes and reads."""

from random import Random

import numpy as np
import pytest
import safetensors.numpy
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.planner import plan as make_plan
from fedperm.schemes.paillier.aggregation import EncryptedSum
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.aggregate import aggregate_body, decode_aggregate, encode_aggregate
from fedperm.wire.public_key import decode_public_key, encode_public_key, public_key_body
from fedperm.wire.update import decode_update, encode_update, update_body
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.wire.small_messages import KEY_BITS, key_of, random_aggregate, random_update, small_plans

seeds = st.integers(0, 2**32)


def assert_same_array(left, right):
    assert left.dtype == right.dtype
    assert np.array_equal(left, right)


@given(seed=seeds, key_bits=st.sampled_from([64, 80, 128, 256]))
def test_a_public_key_is_read_back(seed, key_bits):
    public_key = generate_key(Random(seed), key_bits, insecure_for_tests=True).public_key
    body = encode_public_key(public_key)
    assert len(body) == public_key_body(key_bits).size
    assert decode_public_key(body, key_bits, insecure_for_tests=True) == public_key


def test_a_2048_bit_public_key_is_read_back_without_the_test_switch(key_2048):
    body = encode_public_key(key_2048.public_key)
    assert decode_public_key(body, 2048) == key_2048.public_key


@given(plan=small_plans, seed=seeds)
def test_an_update_is_read_back(plan, seed):
    public_key = key_of(plan.packing.key_bits).public_key
    update = random_update(plan, seed)
    body = encode_update(update, plan, public_key)
    assert len(body) == update_body(plan, public_key).size
    decoded = decode_update(body, plan, public_key)
    assert_same_array(decoded.values, update.values)
    assert_same_array(decoded.masks, update.masks)


@given(plan=small_plans, seed=seeds)
def test_an_aggregate_is_read_back(plan, seed):
    public_key = key_of(plan.packing.key_bits).public_key
    total = random_aggregate(plan, seed)
    body = encode_aggregate(total, plan, public_key)
    assert len(body) == aggregate_body(plan, public_key).size
    assert decode_aggregate(body, plan, public_key) == total


@pytest.mark.parametrize("key_bits", [64, 80, 128, 256, 512])
def test_a_public_key_is_what_safetensors_writes_and_reads(key_bits):
    n = key_of(key_bits).public_key.n
    body = encode_public_key(key_of(key_bits).public_key)
    array = np.frombuffer(int(n).to_bytes(key_bits // 8, "big"), np.uint8)
    assert safetensors.numpy.save({"n": array}) == body
    assert_same_array(safetensors.numpy.load(body)["n"], array)


@given(plan=small_plans, seed=seeds)
def test_an_update_is_what_safetensors_writes_and_reads(plan, seed):
    update = random_update(plan, seed)
    body = encode_update(update, plan, key_of(plan.packing.key_bits).public_key)
    assert safetensors.numpy.save({"values": update.values, "masks": update.masks}) == body
    loaded = safetensors.numpy.load(body)
    assert loaded.keys() == {"values", "masks"}
    assert_same_array(loaded["values"], update.values)
    assert_same_array(loaded["masks"], update.masks)


@given(plan=small_plans, seed=seeds)
def test_an_aggregate_is_what_safetensors_writes_and_reads(plan, seed):
    total = random_aggregate(plan, seed)
    body = encode_aggregate(total, plan, key_of(plan.packing.key_bits).public_key)
    width = plan.packing.key_bits // 4
    octets = [list(int(c).to_bytes(width, "little")) for row in total.ciphertexts for c in row]
    shape = (plan.geometry.windows, plan.packing.groups, width)
    ciphertexts = np.array(octets, np.uint8).reshape(shape)
    contributors = np.array([total.contributors], np.uint32)
    arrays = {"ciphertexts": ciphertexts, "contributors": contributors}
    assert safetensors.numpy.save(arrays) == body
    loaded = safetensors.numpy.load(body)
    assert loaded.keys() == arrays.keys()
    assert_same_array(loaded["ciphertexts"], ciphertexts)
    assert_same_array(loaded["contributors"], contributors)


def test_a_public_key_by_hand():
    n = 0xFEDC_BA98_7654_3211
    body = encode_public_key(PublicKey(mpz(n), insecure_for_tests=True))
    header = b'{"n":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}   '
    assert body == b"\x38" + bytes(7) + header + bytes.fromhex("fedcba9876543211")


def test_an_aggregate_by_hand():
    """Wider types first: the count lies before the ciphertexts, each number lowest octet first."""
    plan = make_plan(d=1, k1=1, k2=1, clients=3, value_bits=4, key_bits=64)
    total = EncryptedSum(((mpz(0x0102),),), 3)
    body = encode_aggregate(total, plan, key_of(64).public_key)
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
    plan = make_plan(d=2, k1=2, k2=1, clients=1, value_bits=value_bits, key_bits=KEY_BITS)
    header = update_body(plan, key_of(KEY_BITS).public_key).header
    assert f'"values":{{"dtype":"{dtype}","shape":[1,2]'.encode() in header


@settings(max_examples=20)
@given(plan=small_plans, seed=seeds)
def test_offset_of_says_where_a_tensor_begins(plan, seed):
    public_key = key_of(plan.packing.key_bits).public_key
    update = random_update(plan, seed)
    body = encode_update(update, plan, public_key)
    layout = update_body(plan, public_key)
    for name, array in (("values", update.values), ("masks", update.masks)):
        start = layout.offset_of(name)
        assert body[start : start + array.nbytes] == array.tobytes()


def test_a_decoded_update_is_a_view_of_the_body_and_not_a_copy():
    plan = make_plan(d=5, k1=3, k2=2, clients=4, value_bits=12, key_bits=KEY_BITS)
    public_key = key_of(KEY_BITS).public_key
    body = bytearray(encode_update(random_update(plan, seed=2), plan, public_key))
    decoded = decode_update(memoryview(body), plan, public_key)
    raw = np.frombuffer(body, np.uint8)
    assert np.shares_memory(decoded.values, raw)
    assert np.shares_memory(decoded.masks, raw)
