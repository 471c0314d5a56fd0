"""The key id: what everybody compares before encrypting or decrypting anything."""

import hashlib
from random import Random

from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.schemes.paillier.scheme import Paillier
from fedperm_secret.schemes.paillier.keys import generate_key

KNOWN = "4d59b7079c27cab1b81bbe80bd0b716b5ea419768f7f068d1efedaac8a213d99"


def fingerprint_by_hand(n: int) -> str:
    octets = int(n).to_bytes((int(n).bit_length() + 7) // 8, "big")
    return hashlib.sha256(b"fedperm paillier n" + b"\x00" + octets).hexdigest()


@given(seed=st.integers(0, 2**32), key_bits=st.sampled_from([64, 128, 256]))
def test_it_is_the_sha256_of_the_name_and_n(seed, key_bits):
    public_key = generate_key(Random(seed), key_bits, insecure_for_tests=True).public_key
    assert public_key.key_id == fingerprint_by_hand(public_key.n)


def test_a_2048_bit_key_too(key_2048):
    assert key_2048.public_key.key_id == fingerprint_by_hand(key_2048.public_key.n)


def test_a_known_key_keeps_its_fingerprint():
    """Written down once; a change would make every stored key a stranger."""
    public_key = PublicKey(mpz(0xFEDC_BA98_7654_3211), insecure_for_tests=True)
    assert public_key.key_id == KNOWN


def test_it_survives_a_record(small_key):
    material = small_key.public_key.material
    received = Paillier(512, insecure_for_tests=True).public_key(material)
    assert received.key_id == small_key.public_key.key_id


def test_different_keys_have_different_fingerprints():
    keys = [generate_key(Random(seed), 64, insecure_for_tests=True) for seed in range(50)]
    assert len({key.public_key.key_id for key in keys}) == 50
