"""A secret at rest opens with its key-encryption key, as what it is, and not otherwise."""

import copy
import pickle

import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.errors import SealedError, SettingsError
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.at_rest import KeyEncryptionKey, unwrap_epoch_secret, wrap_epoch_secret
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes
from tests.keys.secrecy import pieces_shown

OCTETS = bytes(range(32))
KEK = KeyEncryptionKey(OCTETS)
PLACE = {"key": "demo", "epoch": 2}


def octets_of(key: SecretKey) -> bytes:
    return secret_key_to_bytes(key, SECRET_KEY_ACCESS)


def test_a_wrapped_key_opens_and_decrypts(small_key, randomness):
    wrapped = wrap_epoch_secret(octets_of(small_key), KEK, randomness, **PLACE)
    octets = unwrap_epoch_secret(wrapped, KEK, **PLACE)
    opened = secret_key_from_bytes(octets, SECRET_KEY_ACCESS, insecure_for_tests=True)
    public = small_key.public_key
    assert Decryptor(opened).decrypt(public.encrypt(mpz(41), mpz(1))) == 41


@pytest.mark.parametrize("change", [{"key": "other"}, {"epoch": 1}, {"epoch": 22}], ids=str)
def test_it_opens_in_no_other_place(small_key, randomness, change):
    wrapped = wrap_epoch_secret(octets_of(small_key), KEK, randomness, **PLACE)
    with pytest.raises(SealedError):
        unwrap_epoch_secret(wrapped, KEK, **{**PLACE, **change})


def test_it_opens_with_no_other_key_encryption_key(small_key, randomness):
    wrapped = wrap_epoch_secret(octets_of(small_key), KEK, randomness, **PLACE)
    with pytest.raises(SealedError, match="does not open") as caught:
        unwrap_epoch_secret(wrapped, KeyEncryptionKey(bytes(32)), **PLACE)
    assert pieces_shown(str(caught.value), small_key) == []


def test_what_is_written_shows_nothing_of_p_and_q_and_differs_each_time(small_key, randomness):
    one, two = (wrap_epoch_secret(octets_of(small_key), KEK, randomness, **PLACE) for _ in range(2))
    assert one != two
    for prime in small_key.factors(SECRET_KEY_ACCESS):
        for form in (
            prime.to_bytes(32, "big"),
            prime.to_bytes(32, "little"),
            f"{prime:x}".encode(),
        ):
            assert form not in one


@given(octets=st.binary(max_size=200), purpose=st.text(max_size=20), data=st.data())
def test_a_changed_or_cut_octet_is_noticed(octets, purpose, data):
    wrapped = bytearray(KEK.wrap(octets, purpose, data.draw(st.randoms())))
    assert KEK.unwrap(bytes(wrapped), purpose) == octets
    place = data.draw(st.integers(0, len(wrapped) - 1))
    with pytest.raises(SealedError):
        KEK.unwrap(bytes(wrapped[:place]), purpose)
    wrapped[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SealedError):
        KEK.unwrap(bytes(wrapped), purpose)


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_key_encryption_key_has_32_octets(length):
    with pytest.raises(SettingsError, match=str(length)):
        KeyEncryptionKey(bytes(length))


def test_a_key_encryption_key_stays_where_it_is():
    assert repr(KEK) == "<KeyEncryptionKey>"
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be"):
            duplicate(KEK)
