"""The bucket method against plain exponentiation, and its count of multiplications."""

from random import Random

import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.schemes.paillier.multi_exponentiation import (
    MultiExponentiation,
    batch_invert,
    best_bucket_bits,
    multiplications,
)

N = mpz(2**61 - 1) * mpz(2**89 - 1)
N_SQUARED = int(N * N)


def draw_bases(count: int, seed: int) -> list[mpz]:
    return [mpz(Random(seed + i).randrange(1, N_SQUARED)) for i in range(count)]


@given(
    bases=st.integers(1, 30),
    windows=st.integers(1, 12),
    value_bits=st.integers(1, 20),
    bucket_bits=st.integers(1, 10),
    batches=st.integers(1, 3),
    data=st.data(),
)
def test_each_window_is_the_product_of_its_powers(
    bases, windows, value_bits, bucket_bits, batches, data
):
    exponent = st.integers(0, 2**value_bits - 1)
    powers = MultiExponentiation(N, windows, value_bits, bucket_bits)
    expected = [1] * windows
    for batch in range(batches):
        numbers = draw_bases(bases, batch * 100)
        flat = data.draw(st.lists(exponent, min_size=bases * windows, max_size=bases * windows))
        exponents = np.array(flat, dtype=np.uint32).reshape(bases, windows)
        powers.add(numbers, exponents)
        for x in range(windows):
            for number, e in zip(numbers, exponents[:, x].tolist(), strict=True):
                expected[x] = expected[x] * pow(int(number), e, N_SQUARED) % N_SQUARED
    assert powers.results() == expected


@pytest.mark.parametrize("value", [0, 2**9 - 1])
def test_exponents_all_alike(value):
    bases = draw_bases(50, 1)
    powers = MultiExponentiation(N, 7, 9, 4)
    powers.add(bases, np.full((50, 7), value))
    product = 1
    for base in bases:
        product = product * pow(int(base), value, N_SQUARED) % N_SQUARED
    assert powers.results() == [product] * 7


@pytest.mark.parametrize(("windows", "bucket_bits"), [(20, 9), (1, 8), (3, 5)])
def test_the_counted_multiplications_are_those_expected(windows, bucket_bits):
    """The planner's forecast within 2 % of what is counted for random exponents."""
    count, value_bits = 3000, 11
    generator = np.random.default_rng(1)
    powers = MultiExponentiation(N, windows, value_bits, bucket_bits)
    powers.add(draw_bases(count, 1), generator.integers(0, 2**value_bits, (count, windows)))
    powers.results()
    forecast = sum(multiplications(count, windows * value_bits, bucket_bits))
    assert powers.tally.modmuls == pytest.approx(forecast, rel=0.02)


def test_wider_buckets_pay_for_more_bases():
    widths = [best_bucket_bits(bases, 220) for bases in (1, 10, 100, 1000, 10_000, 100_000)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_the_bucket_width_never_exceeds_the_exponent():
    assert best_bucket_bits(10**6, 3) <= 3


@given(st.lists(st.integers(1, 2**60), min_size=1, max_size=40))
def test_batch_inversion_inverts_each(numbers):
    units = [mpz(number) for number in numbers]
    inverses = batch_invert(units, N)
    assert all(unit * inverse % N == 1 for unit, inverse in zip(units, inverses, strict=True))
