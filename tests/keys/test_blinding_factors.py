"""Blinding factors are n-th residues, uniform ones, whoever makes them."""

from collections import Counter
from math import lcm
from random import Random

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from fedperm.errors import KeyStrengthError
from fedperm.planner import plan
from fedperm.schemes.paillier.blinding import BlindingPool, PublicBlinding
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.scheme import Paillier
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding, _FixedBase, _FreshPower
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.keys.foreign_keys import imported, phe_key

FALSE_ALARM = 1e-6
"""How often a uniform source would fail a chi-square test below; the seeds are fixed."""

SAFE_PRIMES = [5, 7, 11, 23, 47, 359, 2027]
"""359 and 2027 need exponents of two octets."""

ORDINARY_PRIMES = [13, 31, 101, 257]


def assert_uniform(counts: Counter, cells: int) -> None:
    """Pearson's chi-square against equal expectations."""
    expected = counts.total() / cells
    observed = [*counts.values(), *[0] * (cells - len(counts))]
    statistic = sum((count - expected) ** 2 / expected for count in observed)
    assert statistic < chi2.isf(FALSE_ALARM, cells - 1)


def test_the_uniformity_test_notices_a_bias():
    """It can fail: a die that shows one face 30 % too often is caught."""
    with pytest.raises(AssertionError):
        assert_uniform(Counter({face: 1300 if face == 6 else 1000 for face in range(1, 7)}), 6)


def own_key():
    return generate_key(Random(11), 256, insecure_for_tests=True)


def foreign_key():
    return imported(phe_key(256, seed=11))


def with_tables():
    return own_key(), SecretBlinding(own_key())


def without_tables():
    return foreign_key(), SecretBlinding(foreign_key())


def with_the_public_key_only():
    return own_key(), PublicBlinding(own_key().public_key)


SOURCES = [with_tables, without_tables, with_the_public_key_only]


@pytest.fixture(scope="module", params=SOURCES, ids=lambda build: build.__name__)
def source(request):
    """A key and a source of blinding factors for it."""
    return request.param()


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_a_factor_is_an_nth_residue(source, seed):
    """Its power lambda is 1, so it encrypts 0, in our eyes and in phe's."""
    key, blinding = source
    p, q = map(int, key.factors(SECRET_KEY_ACCESS))
    factor = int(blinding.draw(Random(seed)))
    assert 0 < factor < (p * q) ** 2
    assert pow(factor, lcm(p - 1, q - 1), (p * q) ** 2) == 1
    assert Decryptor(key).decrypt(mpz(factor)) == 0
    assert secret_key_to_phe(key, SECRET_KEY_ACCESS).raw_decrypt(factor) == 0


def test_factors_at_2048_bits_encrypt_zero(key_2048, blinding_2048, imported_2048, randomness):
    for key, blinding in [
        (key_2048, blinding_2048),
        (key_2048, PublicBlinding(key_2048.public_key)),
        (imported_2048, SecretBlinding(imported_2048)),
    ]:
        theirs = secret_key_to_phe(key, SECRET_KEY_ACCESS)
        for _ in range(3):
            factor = blinding.draw(randomness)
            assert Decryptor(key).decrypt(factor) == 0
            assert theirs.raw_decrypt(int(factor)) == 0


def test_all_four_quarters_of_the_residues_are_equally_likely(source):
    """Squares or not, modulo p and modulo q: a base of half the order would reach one only."""
    key, blinding = source
    p, q = map(int, key.factors(SECRET_KEY_ACCESS))
    randomness = Random(4)
    factors = [int(blinding.draw(randomness)) for _ in range(2000)]
    quarters = Counter((is_square(factor, p), is_square(factor, q)) for factor in factors)
    assert_uniform(quarters, 4)


def is_square(number: int, prime: int) -> bool:
    """Euler's criterion."""
    return pow(number, (prime - 1) // 2, prime) == 1


def nth_residues(prime: int) -> set[int]:
    return {pow(x, prime, prime * prime) for x in range(1, prime)}


@pytest.mark.parametrize("prime", SAFE_PRIMES)
def test_the_tables_reach_every_residue_and_no_other_number(prime):
    drawn = Counter(drawn_from(_FixedBase(mpz(prime)), prime))
    assert drawn.keys() == nth_residues(prime)
    assert len(drawn) == prime - 1
    assert_uniform(drawn, prime - 1)


@pytest.mark.parametrize("prime", ORDINARY_PRIMES + SAFE_PRIMES)
def test_fresh_powers_reach_every_residue_and_no_other_number(prime):
    drawn = Counter(drawn_from(_FreshPower(mpz(prime)), prime))
    assert drawn.keys() == nth_residues(prime)
    assert_uniform(drawn, prime - 1)


def drawn_from(residues, prime: int) -> list[int]:
    """So many draws that one residue is missed with probability below 1e-9."""
    randomness = Random(prime)
    return [int(residues.draw(randomness)) for _ in range(30 * prime)]


@pytest.mark.parametrize("prime", ORDINARY_PRIMES)
def test_tables_are_refused_for_a_prime_that_is_not_safe(prime):
    with pytest.raises(KeyStrengthError, match="not a safe prime"):
        _FixedBase(mpz(prime))


def test_masks_hold_the_same_plaintexts_whoever_blinds_them(source, randomness):
    """Permutation (2 0 4 1 3) in slots of 20 bits, by hand."""
    key, blinding = source
    bits = key.public_key.key_bits
    shape = plan(d=5, k1=5, k2=1, clients=1, value_bits=20, scheme=Paillier(bits))
    encoder = MaskEncoder(shape.layout, BlindingPool(blinding, randomness))
    masks = encoder.encode([np.array([2, 0, 4, 1, 3])])["masks"]
    ciphertexts = [[octets.tobytes() for octets in group] for group in masks[0]]
    decryptor = Decryptor(key)
    plaintexts = [
        [decryptor.decrypt(mpz.from_bytes(octets, "little")) for octets in group]
        for group in ciphertexts
    ]
    assert plaintexts == [[2**40, 1, 2**80, 2**20, 2**60]]
    assert len(set(ciphertexts[0])) == 5


class HighestDraw(Random):
    """Hands out the largest number it may, and remembers between which bounds it was asked."""

    def __init__(self) -> None:
        super().__init__(0)
        self.bounds: list[tuple[int, int]] = []

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        low, high = (0, start) if stop is None else (start, stop)
        self.bounds.append((low, high))
        return high - step


def test_tables_draw_their_exponents_from_the_whole_order(key_2048, blinding_2048):
    """With exponents p - 2 and q - 2 the factor is the inverse of the generators."""
    p, q = key_2048.factors(SECRET_KEY_ACCESS)
    randomness = HighestDraw()
    factor = blinding_2048.draw(randomness)
    assert randomness.bounds == [(0, p - 1), (0, q - 1)]
    for prime in (p, q):
        generator = gmpy2.invert(factor, prime * prime)
        order_divides = [gmpy2.powmod(generator, e, prime * prime) for e in (2, prime // 2)]
        assert gmpy2.powmod(generator, prime - 1, prime * prime) == 1
        assert 1 not in order_divides


def test_keys_without_tables_draw_from_all_residues(imported_2048):
    p, q = imported_2048.factors(SECRET_KEY_ACCESS)
    randomness = HighestDraw()
    factor = SecretBlinding(imported_2048).draw(randomness)
    assert randomness.bounds == [(1, p), (1, q)]
    assert factor == imported_2048.public_key.n_squared - 1  # (-1)^p mod p^2, (-1)^q mod q^2


def test_those_without_p_and_q_draw_from_all_units(key_2048):
    key = key_2048.public_key
    randomness = HighestDraw()
    assert PublicBlinding(key).draw(randomness) == key.n_squared - 1  # (-1)^n
    assert randomness.bounds == [(1, key.n)]
