"""Generated keys have exactly the asked size and two different safe primes."""

from random import Random

import gmpy2
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from fedperm.errors import KeyStrengthError
from fedperm.schemes.paillier.public_key import KEY_SIZES, PublicKey, check_key_bits
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey, generate_key
from fedperm_secret.schemes.paillier.safe_primes import draw_safe_prime, is_safe_prime
from tests.keys.foreign_keys import ordinary_prime
from tests.keys.primality import is_probable_prime

SAFE_PRIMES_BELOW_400 = [5, 7, 11, 23, 47, 59, 83, 107, 167, 179, 227, 263, 347, 359, 383]


def assert_two_safe_primes(key, key_bits):
    p, q = map(int, key.factors(SECRET_KEY_ACCESS))
    assert p != q
    assert p * q == key.public_key.n
    assert key.public_key.n.bit_length() == key.public_key.key_bits == key_bits
    for prime in (p, q):
        assert prime.bit_length() == key_bits // 2
        assert is_probable_prime(prime)
        assert is_probable_prime((prime - 1) // 2)


def test_the_test_of_primality_agrees_with_trial_division():
    def divides_by_none(number):
        return number > 1 and all(number % divisor for divisor in range(2, number))

    assert [n for n in range(2000) if is_probable_prime(n)] == [
        n for n in range(2000) if divides_by_none(n)
    ]


def test_a_2048_bit_key_has_exactly_that_size_and_safe_primes(key_2048):
    assert_two_safe_primes(key_2048, 2048)


@settings(max_examples=40)
@given(key_bits=st.sampled_from(range(64, 257, 16)), seed=st.integers(0, 2**32))
def test_a_short_key_has_exactly_that_size_and_safe_primes(key_bits, seed):
    assert_two_safe_primes(generate_key(Random(seed), key_bits, insecure_for_tests=True), key_bits)


def test_a_512_bit_key_has_exactly_that_size_and_safe_primes(small_key):
    assert_two_safe_primes(small_key, 512)


def test_a_key_is_drawn_from_the_given_randomness_only():
    keys = [generate_key(Random(seed), 128, insecure_for_tests=True) for seed in (1, 1, 2)]
    ids = [key.public_key.key_id for key in keys]
    assert ids[0] == ids[1] != ids[2]


@given(bits=st.integers(32, 128), seed=st.integers(0, 2**32))
def test_a_safe_prime_has_its_two_top_bits_set(bits, seed):
    prime = draw_safe_prime(bits, Random(seed))
    assert prime >> (bits - 2) == 3
    assert is_safe_prime(prime)


def test_safe_primes_below_400_by_hand():
    assert [n for n in range(400) if is_safe_prime(n)] == SAFE_PRIMES_BELOW_400


@pytest.mark.parametrize("key_bits", [2048, 3072, 4096])
def test_usual_key_sizes_are_allowed(key_bits):
    check_key_bits(key_bits, insecure_for_tests=False)
    assert key_bits in KEY_SIZES


@pytest.mark.parametrize("key_bits", [0, 64, 512, 1024, 2040, 2047, 2049, 2064, 3071, 4095, 8192])
def test_other_key_sizes_are_refused(key_bits):
    with pytest.raises(KeyStrengthError, match=f"a key of {key_bits} bits") as caught:
        generate_key(Random(1), key_bits)
    assert caught.value.hint == "choose one of 2048, 3072, 4096 bits"


@pytest.mark.parametrize("key_bits", [-64, 0, 16, 48, 63, 65, 72, 100, 513, 2049])
def test_odd_or_tiny_sizes_are_refused_even_with_the_test_switch(key_bits):
    with pytest.raises(KeyStrengthError, match=f"a test key of {key_bits} bits"):
        generate_key(Random(1), key_bits, insecure_for_tests=True)


def test_a_short_secret_key_is_refused_without_the_test_switch(small_key):
    p, q = small_key.factors(SECRET_KEY_ACCESS)
    with pytest.raises(KeyStrengthError, match="a key of 512 bits"):
        SecretKey(p, q)
    with pytest.raises(KeyStrengthError, match="a key of 512 bits"):
        PublicKey(p * q)


def test_equal_primes_are_refused(small_key):
    p, _ = small_key.factors(SECRET_KEY_ACCESS)
    with pytest.raises(KeyStrengthError, match="not two different primes"):
        SecretKey(p, p, insecure_for_tests=True)


def test_a_composite_factor_is_refused(small_key):
    p, q = small_key.factors(SECRET_KEY_ACCESS)
    for composite in (q + 2, q * q, q - 1, 1, 0, -q):
        with pytest.raises(KeyStrengthError, match="not two different primes"):
            SecretKey(p, composite, insecure_for_tests=True)


def test_a_short_prime_hidden_in_a_long_key_is_refused():
    """n has 2048 bits and is factored at once: the size of n alone says nothing."""
    short = mpz(1_000_003)
    long = gmpy2.next_prime(2**2047 // short + 10**6)
    assert (short * long).bit_length() == 2048
    assert gmpy2.gcd(short * long, (short - 1) * (long - 1)) == 1
    with pytest.raises(KeyStrengthError):
        SecretKey(short, long)


def test_primes_that_divide_each_others_order_are_refused(randomness):
    """p | q - 1 would make n and (p-1)(q-1) share p: decryption would not be unique."""
    p = ordinary_prime(40, randomness)
    q = next(q for q in range(2 * p + 1, 10**6 * p, 2 * p) if fits(p, q))
    with pytest.raises(KeyStrengthError, match="same length"):
        SecretKey(mpz(p), mpz(q), insecure_for_tests=True)


def fits(p, q):
    return is_probable_prime(q) and (p * q).bit_length() % 16 == 0
