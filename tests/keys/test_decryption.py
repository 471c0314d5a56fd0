"""Decryption by Chinese remainders gives what the textbook and phe give."""

from math import lcm
from random import Random

from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.planner import plan
from fedperm.schemes.paillier.scheme import Paillier
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from tests.core.federation import secret_half_of


def textbook_decrypt(ciphertext: int, p: int, q: int) -> int:
    """Paillier 1999, scheme 1 with g = n + 1: L(c^lambda mod n^2) / lambda mod n."""
    n, order = p * q, lcm(p - 1, q - 1)
    power = pow(ciphertext, order, n * n)
    return (power - 1) // n * pow(order, -1, n) % n


@given(
    seed=st.integers(0, 2**32),
    key_bits=st.sampled_from([64, 128, 256]),
    unit=st.integers(1, 2**512),
)
def test_any_unit_decrypts_as_in_the_textbook(seed, key_bits, unit):
    """Every invertible number modulo n^2 is somebody's ciphertext."""
    key = generate_key(Random(seed), key_bits, insecure_for_tests=True)
    p, q = map(int, key.factors(SECRET_KEY_ACCESS))
    ciphertext = unit % (p * q) ** 2
    if ciphertext % p == 0 or ciphertext % q == 0:
        ciphertext = 1
    assert Decryptor(key).decrypt(mpz(ciphertext)) == textbook_decrypt(ciphertext, p, q)


def test_a_random_plaintext_at_2048_bits_decrypts_as_with_phe(key_2048, randomness):
    theirs = secret_key_to_phe(key_2048, SECRET_KEY_ACCESS)
    decryptor = Decryptor(key_2048)
    n = theirs.public_key.n
    for plaintext in [0, 1, n - 1, *(randomness.randrange(n) for _ in range(10))]:
        ciphertext = theirs.public_key.raw_encrypt(plaintext, randomness.randrange(1, n))
        assert decryptor.decrypt(mpz(ciphertext)) == plaintext
        assert theirs.raw_decrypt(ciphertext) == plaintext


def test_the_trivial_ciphertexts_by_hand(small_key):
    """1 encrypts 0, 1 + n encrypts 1, (1 + n)^-1 encrypts n - 1, and -1 encrypts 0 with r = -1."""
    public_key, decryptor = small_key.public_key, Decryptor(small_key)
    n = public_key.n
    assert decryptor.decrypt(mpz(1)) == 0
    assert decryptor.decrypt(1 + n) == 1
    assert decryptor.decrypt(public_key.n_squared + 1 - n) == n - 1
    assert decryptor.decrypt(public_key.n_squared - 1) == 0


def test_an_aggregate_is_decrypted_in_its_own_shape(small_key, randomness):
    """Two windows of two groups: the first rows of each group hold what was encrypted."""
    shape = plan(d=200, k1=100, k2=1, clients=1, value_bits=9, scheme=Paillier(512))
    slots = shape.layout.packing.slots
    assert shape.layout.packing.groups == 2
    public_key, blinding = small_key.public_key, SecretBlinding(small_key)
    ciphertexts = [
        public_key.encrypt(mpz(10 * window + group), blinding.draw(randomness))
        for window in range(2)
        for group in range(2)
    ]
    total = {"ciphertexts": public_key.to_array(ciphertexts, 2, 2)}
    sums = secret_half_of(shape, small_key).decrypt(total)
    assert sums.shape == (2, 100)
    assert sums[:, [0, slots]].tolist() == [[0, 1], [10, 11]]
    assert sums.sum() == 0 + 1 + 10 + 11


@given(
    seed=st.integers(0, 2**32),
    left=st.integers(0, 2**40),
    right=st.integers(0, 2**40),
    scalar=st.integers(0, 2**20),
)
def test_products_of_ciphertexts_are_sums_of_plaintexts(small_key, seed, left, right, scalar):
    randomness, public_key = Random(seed), small_key.public_key
    a = public_key.encrypt(mpz(left), public_key.blinding_factor(public_key.draw_unit(randomness)))
    b = public_key.encrypt(mpz(right), public_key.blinding_factor(public_key.draw_unit(randomness)))
    combined = pow(a, scalar, public_key.n_squared) * b % public_key.n_squared
    assert Decryptor(small_key).decrypt(combined) == scalar * left + right
