"""Keys of python-paillier, whose primes are ordinary ones."""

from random import Random

import phe

from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_from_phe
from tests.keys.primality import is_probable_prime


def ordinary_prime(bits: int, randomness: Random) -> int:
    """Prime, its two top bits set, and (p - 1) / 2 composite: not a safe prime."""
    while True:
        candidate = randomness.getrandbits(bits) | (3 << (bits - 2)) | 1
        if is_probable_prime(candidate) and not is_probable_prime(candidate // 2):
            return candidate


def phe_key(key_bits: int, seed: int) -> phe.PaillierPrivateKey:
    """A phe key that certainly has no safe prime."""
    randomness = Random(seed)
    p, q = (ordinary_prime(key_bits // 2, randomness) for _ in range(2))
    return phe.PaillierPrivateKey(phe.PaillierPublicKey(p * q), p, q)


def imported(key: phe.PaillierPrivateKey) -> SecretKey:
    return secret_key_from_phe(key, SECRET_KEY_ACCESS, insecure_for_tests=True)
