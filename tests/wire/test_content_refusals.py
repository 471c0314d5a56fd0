"""A well-formed body with impossible content is refused: values, ciphertexts, counts, keys."""

from random import Random

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import (
    AggregateError,
    BodyError,
    CiphertextError,
    KeyStrengthError,
    ParameterError,
    SharedFactorError,
    ValueRangeError,
)
from fedperm.planner import plan as make_plan
from fedperm.schemes.paillier.scheme import Paillier
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import generate_key
from tests.core.federation import checked
from tests.wire.refusals import assert_shows_no_factor, refusal
from tests.wire.small_messages import (
    KEY_BITS,
    PLAN,
    Message,
    aggregate_message,
    key_of,
    random_update,
    update_body,
    update_message,
)

KEY = key_of(KEY_BITS)
N = KEY.public_key.n
P, Q = KEY.factors(SECRET_KEY_ACCESS)
WIDTH = KEY_BITS // 4
MASKS = PLAN.layout.mask_ciphertexts
CIPHERTEXTS = PLAN.layout.sum_ciphertexts


def patched(message: Message, tensor: str, skip: int, octets: bytes) -> bytes:
    """The example with some octets of a tensor replaced."""
    start = message.layout.offset_of(tensor) + skip
    return message.body[:start] + octets + message.body[start + len(octets) :]


def with_mask(position: int, number: int) -> bytes:
    octets = int(number).to_bytes(WIDTH, "little")
    return patched(update_message(), "masks", position * WIDTH, octets)


def with_ciphertext(position: int, number: int) -> bytes:
    octets = int(number).to_bytes(WIDTH, "little")
    return patched(aggregate_message(), "ciphertexts", position * WIDTH, octets)


def with_contributors(count: int) -> bytes:
    return patched(aggregate_message(), "contributors", 0, count.to_bytes(4, "little"))


outside = st.sampled_from([mpz(0), N * N, N * N + 1, mpz(2) ** (8 * WIDTH) - 1])
multiples = st.builds(
    lambda prime, factor: prime * factor,
    st.sampled_from([P, Q, N]),
    st.integers(1, int(N) - 1).filter(lambda factor: factor % P and factor % Q),
)


@given(position=st.integers(0, MASKS - 1), number=outside)
def test_a_mask_outside_the_group_is_refused(position, number):
    error = refusal(CiphertextError, update_message().decode, with_mask(position, number))
    assert "outside" in error.message


@given(position=st.integers(0, CIPHERTEXTS - 1), number=outside)
def test_an_aggregate_with_a_number_outside_the_group_is_refused(position, number):
    error = refusal(CiphertextError, aggregate_message().decode, with_ciphertext(position, number))
    assert "outside" in error.message


@given(position=st.integers(0, MASKS - 1), number=multiples)
def test_a_mask_that_shares_a_factor_with_n_is_refused_without_showing_it(position, number):
    error = refusal(SharedFactorError, update_message().decode, with_mask(position, number))
    assert str(number) not in str(error)
    assert "rotate the key" in error.hint


@given(position=st.integers(0, CIPHERTEXTS - 1), number=multiples)
def test_an_aggregate_that_shares_a_factor_with_n_is_refused_without_showing_it(position, number):
    error = refusal(
        SharedFactorError, aggregate_message().decode, with_ciphertext(position, number)
    )
    assert str(number) not in str(error)
    assert "rotate the key" in error.hint


@given(position=st.integers(0, MASKS - 1), number=st.sampled_from([mpz(1), N + 1, N * N - 1]))
def test_the_smallest_and_largest_units_are_accepted(position, number):
    """n^2 - 1 is the unit -1; whether a unit is a sensible mask cannot be seen."""
    decoded = update_message().decode(with_mask(position, number))
    octets = decoded["masks"].reshape(MASKS, WIDTH)[position].tobytes()
    assert int.from_bytes(octets, "little") == number


@pytest.mark.parametrize("value_bits", [1, 5, 7, 9, 12, 15, 17, 20])
def test_the_largest_value_is_accepted_and_the_next_refused_at_every_position(value_bits):
    plan = make_plan(d=5, k1=3, k2=2, clients=4, value_bits=value_bits, scheme=Paillier(KEY_BITS))
    update = random_update(plan, seed=value_bits)
    for index in np.ndindex(update["values"].shape):
        values = update["values"].copy()
        values[index] = 2**value_bits - 1
        decode_values(values, update, plan)
        values[index] = 2**value_bits
        with pytest.raises(ValueRangeError, match=f"exceeds {2**value_bits - 1} ") as caught:
            decode_values(values, update, plan)
        assert f"{value_bits} bits" in caught.value.hint
        assert_shows_no_factor(caught.value, KEY)


def decode_values(values, update, plan):
    body = update_body(plan).encode({**update, "values": values})
    return checked(body, plan, KEY.public_key)


@pytest.mark.parametrize("value_bits", [8, 16])
def test_every_value_of_a_full_type_is_in_range(value_bits):
    plan = make_plan(d=3, k1=3, k2=1, clients=1, value_bits=value_bits, scheme=Paillier(KEY_BITS))
    update = random_update(plan, seed=3)
    values = np.full_like(update["values"], 2**value_bits - 1)
    assert np.array_equal(decode_values(values, update, plan)["values"], values)


@pytest.mark.parametrize("count", [0, PLAN.layout.clients + 1, 2**31, 2**32 - 1])
def test_an_impossible_number_of_contributors_is_refused(count):
    error = refusal(AggregateError, aggregate_message().decode, with_contributors(count))
    assert error.message == f"{count} contributors in a run planned for 1 to 4"


@pytest.mark.parametrize("count", range(1, PLAN.layout.clients + 1))
def test_every_possible_number_of_contributors_is_accepted(count):
    assert aggregate_message().decode(with_contributors(count)).contributors == count


@pytest.mark.parametrize(
    "n",
    [0, 1, N + 1, N - 1, gmpy2.next_prime(N), gmpy2.next_prime(mpz(3) << 62) ** 2],
    ids=["0", "1", "even above", "even below", "prime", "square of a prime"],
)
def test_an_n_that_is_no_product_of_two_odd_primes_is_refused(n):
    scheme = Paillier(KEY_BITS, insecure_for_tests=True)
    refusal(KeyStrengthError, lambda digits: scheme.public_key({"n": digits}), f"{int(n):x}")


def test_a_short_key_is_refused_without_the_test_switch():
    with pytest.raises(KeyStrengthError, match="a key of 128 bits"):
        Paillier(KEY_BITS).public_key(KEY.public_key.material)


def test_a_key_of_another_size_than_the_runs_is_refused():
    """Leading zeros do not make a 128-bit key one of 256."""
    scheme = Paillier(256, insecure_for_tests=True)
    with pytest.raises(KeyStrengthError, match="n has 128 bits, expected 256"):
        scheme.public_key({"n": f"{int(N):064x}"})


@pytest.mark.parametrize(
    "material", [{}, {"n": "xyz"}, {"n": ""}, {"n": "-5"}, {"n": "1" * 1025}, {"n": "5", "g": "6"}]
)
def test_what_is_no_number_n_is_refused(material):
    with pytest.raises(KeyStrengthError, match="n in hexadecimal"):
        Paillier(KEY_BITS, insecure_for_tests=True).public_key(material)


def test_an_update_under_another_keys_size_is_refused():
    other = generate_key(Random(5), 256, insecure_for_tests=True).public_key
    with pytest.raises(ParameterError, match="a key of 256 bits for a plan of"):
        checked(update_message().body, PLAN, other)


def test_an_update_of_another_plan_is_refused():
    other = make_plan(d=6, k1=2, k2=2, clients=4, value_bits=12, scheme=Paillier(KEY_BITS))
    error = refusal(
        BodyError,
        lambda body: checked(body, other, KEY.public_key),
        update_message().body,
    )
    assert "tensor values is not" in error.message


@pytest.mark.parametrize(
    "spoil",
    [
        lambda values: values.astype("<u4"),
        lambda values: values.astype(">u2"),
        lambda values: values.astype("<i2"),
        lambda values: values.reshape(-1),
        lambda values: values[:1],
    ],
    ids=["wider", "big-endian", "signed", "flat", "a window short"],
)
def test_values_of_another_type_or_shape_are_not_encoded(spoil):
    update = random_update(PLAN, seed=4)
    with pytest.raises(BodyError, match=r"values is .* the layout says uint16") as caught:
        update_body(PLAN).encode({**update, "values": spoil(update["values"])})
    assert caught.value.hint == "build the message from the same plan"


def test_an_array_that_lies_transposed_in_memory_is_encoded_in_the_right_order():
    update = random_update(PLAN, seed=4)
    turned = np.asfortranarray(update["values"])
    straight = update_body(PLAN).encode(update)
    assert update_body(PLAN).encode({**update, "values": turned}) == straight


def test_the_size_is_known_before_any_message_exists():
    """A light-sized layout by hand: 20 windows of 400 values in two octets, 2048-bit masks."""
    plan = make_plan(d=7850, k1=400, k2=1, clients=15, value_bits=11, scheme=Paillier(2048))
    layout = update_body(plan)
    data = 20 * 400 * 2 + 1 * 3 * 400 * 512
    assert layout.size - len(layout.header) == data
