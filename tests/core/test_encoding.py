"""Normalising, fixed point, slots and averaging."""

from random import Random

import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.aggregate import EncryptedSum, average_update, check_sums
from fedperm.errors import AggregateError, ParameterError
from fedperm.fixed_point import FixedPoint
from fedperm.normalisation import denormalise, normalise
from fedperm.planner import plan
from fedperm.schemes.paillier.packing import Packing
from fedperm.schemes.paillier.scheme import Paillier
from tests.core.federation import decrypted_sum

bits = st.integers(1, 20)


def test_normalising_by_hand():
    update = np.array([-9.0, -2.0, 0.0, 1.0, 2.0, 7.0])
    assert normalise(update, 2.0).tolist() == [0.0, 0.0, 0.5, 0.75, 1.0, 1.0]
    assert denormalise(np.array([0.0, 0.5, 0.75, 1.0]), 2.0).tolist() == [-2.0, 0.0, 1.0, 2.0]


@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_clip_is_refused(clip):
    with pytest.raises(ParameterError, match="clip"):
        normalise(np.zeros(3), clip)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_diverged_update_is_refused(bad):
    with pytest.raises(ParameterError, match="NaN or infinity"):
        normalise(np.array([0.0, bad]), 1.0)


@given(bits, st.floats(0.5, 1000), st.integers(0, 2**32), st.data())
def test_a_coded_value_is_one_of_the_two_neighbours(value_bits, reach, seed, data):
    code = FixedPoint(value_bits, reach)
    values = np.array(data.draw(st.lists(st.floats(-2000, 2000), min_size=1, max_size=20)))
    coded = code.encode(values, Random(seed))
    assert coded.dtype == code.dtype
    clamped = np.clip(values, 0.5 - reach, 0.5 + reach)
    error = np.abs(code.decode_mean(coded, 1) - clamped)
    assert (error <= code.step * (1 + 1e-6)).all()


@given(bits, st.floats(0.5, 1000))
def test_the_grid_itself_is_coded_exactly_at_both_ends(value_bits, reach):
    code = FixedPoint(value_bits, reach)
    ends = np.array([0.5 - 2 * reach, 0.5 + 2 * reach])
    assert code.encode(ends, Random(0)).tolist() == [0, code.top]


def test_rounding_is_unbiased():
    """200,000 roundings of one value 0.3 of a step up: z-test, false alarm once in a million."""
    code = FixedPoint(4, 0.5)
    count, share = 200_000, 0.3
    values = np.full(count, (5 + share) * code.step)
    ups = int((code.encode(values, Random(3)) == 6).sum())
    assert abs(ups - count * share) < 4.9 * (count * share * (1 - share)) ** 0.5


@pytest.mark.parametrize(
    ("value_bits", "octets"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 4), (20, 4)]
)
def test_values_travel_in_the_smallest_type(value_bits, octets):
    assert FixedPoint(value_bits, 0.5).dtype.itemsize == octets


@pytest.mark.parametrize("value_bits", [0, 21])
def test_impossible_value_bits_are_refused(value_bits):
    with pytest.raises(ParameterError, match=f"value_bits is {value_bits}"):
        FixedPoint(value_bits, 0.5)


@pytest.mark.parametrize("reach", [0.49, float("nan"), float("inf")])
def test_a_reach_that_loses_normalised_values_is_refused(reach):
    with pytest.raises(ParameterError, match="reach"):
        FixedPoint(8, reach)


packings = st.builds(
    Packing,
    key_bits=st.integers(64, 2048),
    clients=st.integers(1, 1000),
    value_bits=bits,
    k1=st.integers(1, 300),
)


@given(packings)
def test_a_full_plaintext_stays_below_half_of_n(packing):
    smallest_n = 1 << (packing.key_bits - 1)
    full = sum(packing.top_sum * packing.unit(slot) for slot in range(packing.slots))
    assert full < smallest_n // 2 + 1
    assert packing.top_sum < 2**packing.slot_bits <= 2 * packing.top_sum + 1


@given(packings, st.data())
def test_slots_split_into_what_was_packed_even_at_the_maximum(packing, data):
    group = data.draw(st.integers(0, packing.groups - 1))
    rows = packing.rows_in(group)
    one_sum = st.one_of(st.just(packing.top_sum), st.integers(0, packing.top_sum))
    sums = data.draw(st.lists(one_sum, min_size=rows, max_size=rows))
    plaintext = mpz(sum(value * packing.unit(slot) for slot, value in enumerate(sums)))
    assert packing.split(plaintext, group).tolist() == sums


@given(packings)
def test_the_groups_hold_every_row_once(packing):
    assert sum(packing.rows_in(group) for group in range(packing.groups)) == packing.k1


def test_slots_by_hand_for_the_light_configuration():
    """15 clients at 11 bits: 15 * 2047 = 30705 < 2^15; floor(2046 / 15) = 136; ceil(400 / 136)."""
    packing = Packing(key_bits=2048, clients=15, value_bits=11, k1=400)
    assert (packing.slot_bits, packing.slots, packing.groups) == (15, 136, 3)


def test_a_slot_wider_than_the_key_is_refused():
    with pytest.raises(ParameterError, match="does not fit a 32-bit key"):
        Packing(key_bits=32, clients=2**20, value_bits=20, k1=1)


def test_sums_beyond_double_precision_are_refused():
    assert Packing(key_bits=2048, clients=2**32 - 1, value_bits=20, k1=1).slot_bits <= 53
    with pytest.raises(ParameterError, match="clients is 4294967296"):
        Packing(key_bits=2048, clients=2**32, value_bits=20, k1=1)


class TestAnAggregateThatIsNoAverage:
    """One window of three rows, two clients, 4-bit values: slots of 5 bits."""

    SHAPE = plan(d=3, k1=3, k2=1, clients=2, value_bits=4, scheme=Paillier(512))

    def opened(self, key, plaintext: int, contributors: int):
        """What a client makes of a sum with this plaintext in its only ciphertext."""
        public = key.public_key
        ciphertext = public.encrypt(mpz(plaintext), mpz(1))
        total = EncryptedSum({"ciphertexts": public.to_array([ciphertext], 1, 1)}, contributors)
        return decrypted_sum(total, self.SHAPE, key)

    def test_an_honest_one_passes(self, small_key):
        assert self.opened(small_key, 30 + (7 << 5) + (1 << 10), 2).tolist() == [[30, 7, 1]]

    @pytest.mark.parametrize(
        ("plaintext", "contributors", "what"),
        [
            (31, 2, "a slot holds more"),
            (16, 1, "a slot holds more"),
            (1 << 15, 2, "above its top slot"),
            (1, 0, "0 contributors"),
            (1, 3, "3 contributors"),
        ],
    )
    def test_others_are_refused(self, plaintext, contributors, what, small_key):
        with pytest.raises(AggregateError, match=what):
            self.opened(small_key, plaintext, contributors)

    def test_as_many_as_contributors_can_add_up_to_is_not_too_much(self):
        check_sums(np.array([[30, 30, 30]]), 2, self.SHAPE)


def test_the_average_by_hand():
    """Two clients at 0 and 1 (coded 0 and 15) average to 1/2: no update; two at 15 to +C."""
    shape = plan(d=3, k1=2, k2=1, clients=2, value_bits=4, scheme=Paillier(512))
    sums = np.array([[15, 30], [0, 15]])
    assert average_update(sums, 2, shape, clip=0.25) == pytest.approx([0.0, 0.25, -0.25])
