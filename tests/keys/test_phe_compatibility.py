"""python-paillier as an oracle: keys and ciphertexts go both ways."""

from random import Random

import phe
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import KeyStrengthError
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import generate_key
from fedperm_secret.schemes.paillier.storage import (
    public_key_from_phe,
    public_key_to_phe,
    secret_key_from_phe,
    secret_key_to_phe,
)
from tests.keys.foreign_keys import imported, phe_key

seeds = st.integers(0, 2**32)
key_sizes = st.sampled_from([64, 128, 256])


def plaintexts_below(n):
    return st.sampled_from([0, 1, int(n) // 2, int(n) - 1]) | st.integers(0, int(n) - 1)


@given(seed=seeds, key_bits=key_sizes, data=st.data())
def test_phe_decrypts_our_ciphertexts_with_our_key(seed, key_bits, data):
    key = generate_key(Random(seed), key_bits, insecure_for_tests=True)
    plaintext = data.draw(plaintexts_below(key.public_key.n))
    factor = SecretBlinding(key).draw(Random(seed))
    ciphertext = key.public_key.encrypt(mpz(plaintext), factor)
    theirs = secret_key_to_phe(key, SECRET_KEY_ACCESS)
    assert theirs.raw_decrypt(int(ciphertext)) == plaintext


@given(seed=seeds, key_bits=key_sizes, data=st.data())
def test_we_decrypt_phes_ciphertexts_with_phes_key(seed, key_bits, data):
    theirs = phe_key(key_bits, seed)
    plaintext = data.draw(plaintexts_below(theirs.public_key.n))
    ciphertext = theirs.public_key.raw_encrypt(plaintext)
    assert Decryptor(imported(theirs)).decrypt(mpz(ciphertext)) == plaintext


@given(seed=seeds, key_bits=key_sizes, data=st.data())
def test_we_blind_under_an_imported_key_and_phe_decrypts(seed, key_bits, data):
    theirs = phe_key(key_bits, seed)
    key = imported(theirs)
    plaintext = data.draw(plaintexts_below(theirs.public_key.n))
    factor = SecretBlinding(key).draw(Random(seed))
    ciphertext = key.public_key.encrypt(mpz(plaintext), factor)
    assert factor != 1
    assert theirs.raw_decrypt(int(ciphertext)) == plaintext


def test_phe_decrypts_ours_at_2048_bits(key_2048, blinding_2048, randomness):
    theirs = secret_key_to_phe(key_2048, SECRET_KEY_ACCESS)
    n = int(key_2048.public_key.n)
    for plaintext in [0, 1, n - 1, *(randomness.randrange(n) for _ in range(5))]:
        factor = blinding_2048.draw(randomness)
        ciphertext = key_2048.public_key.encrypt(mpz(plaintext), factor)
        assert theirs.raw_decrypt(int(ciphertext)) == plaintext


def test_we_decrypt_phes_at_2048_bits(phe_key_2048, imported_2048, randomness):
    decryptor = Decryptor(imported_2048)
    n = phe_key_2048.public_key.n
    for plaintext in [0, 1, n - 1, *(randomness.randrange(n) for _ in range(5))]:
        ciphertext = phe_key_2048.public_key.raw_encrypt(plaintext)
        assert decryptor.decrypt(mpz(ciphertext)) == plaintext


def test_phe_decrypts_what_we_blind_under_its_2048_bit_key(phe_key_2048, imported_2048, randomness):
    blinding = SecretBlinding(imported_2048)
    for plaintext in (0, 1, 12345):
        factor = blinding.draw(randomness)
        ciphertext = imported_2048.public_key.encrypt(mpz(plaintext), factor)
        assert phe_key_2048.raw_decrypt(int(ciphertext)) == plaintext


@given(seed=seeds, key_bits=key_sizes)
def test_a_key_survives_the_way_to_phe_and_back(seed, key_bits):
    key = generate_key(Random(seed), key_bits, insecure_for_tests=True)
    again = imported(secret_key_to_phe(key, SECRET_KEY_ACCESS))
    assert sorted(again.factors(SECRET_KEY_ACCESS)) == sorted(key.factors(SECRET_KEY_ACCESS))


@given(seed=seeds, key_bits=key_sizes)
def test_a_public_key_survives_the_way_to_phe_and_back(seed, key_bits):
    public_key = generate_key(Random(seed), key_bits, insecure_for_tests=True).public_key
    theirs = public_key_to_phe(public_key)
    assert (theirs.n, theirs.g) == (public_key.n, public_key.n + 1)
    assert public_key_from_phe(theirs, insecure_for_tests=True) == public_key


def test_a_short_phe_key_is_refused_without_the_test_switch():
    theirs = phe_key(512, seed=1)
    with pytest.raises(KeyStrengthError, match="a key of 512 bits"):
        secret_key_from_phe(theirs, SECRET_KEY_ACCESS)
    with pytest.raises(KeyStrengthError, match="a key of 512 bits"):
        public_key_from_phe(theirs.public_key)


def test_sums_under_phe_are_sums_under_ours(small_key, randomness):
    """Homomorphism across the two: our ciphertext plus phe's, decrypted by both."""
    theirs = secret_key_to_phe(small_key, SECRET_KEY_ACCESS)
    ours = small_key.public_key.encrypt(mpz(1000), SecretBlinding(small_key).draw(randomness))
    total = ours * theirs.public_key.raw_encrypt(234) % small_key.public_key.n_squared
    assert Decryptor(small_key).decrypt(total) == theirs.raw_decrypt(int(total)) == 1234


def test_phes_own_signed_encoding_is_read_as_residues(small_key):
    """phe writes -5 as n - 5; we decrypt the residue, whatever it stands for."""
    theirs = phe.EncryptedNumber(
        public_key_to_phe(small_key.public_key),
        public_key_to_phe(small_key.public_key).raw_encrypt(int(small_key.public_key.n) - 5),
    )
    assert secret_key_to_phe(small_key, SECRET_KEY_ACCESS).decrypt(theirs) == -5
    assert Decryptor(small_key).decrypt(mpz(theirs.ciphertext())) == small_key.public_key.n - 5
