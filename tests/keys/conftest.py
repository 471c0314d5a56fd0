"""What is worth making once: tables for real keys, and keys of python-paillier."""

import phe
import pytest

from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_from_phe


@pytest.fixture(scope="session")
def blinding_2048(key_2048: SecretKey) -> SecretBlinding:
    return SecretBlinding(key_2048)


@pytest.fixture(scope="session")
def phe_key_2048() -> phe.PaillierPrivateKey:
    """Made by phe itself, with its own randomness."""
    _, private_key = phe.generate_paillier_keypair(n_length=2048)
    return private_key


@pytest.fixture(scope="session")
def imported_2048(phe_key_2048: phe.PaillierPrivateKey) -> SecretKey:
    """Without the test switch: phe's default keys are as good as ours."""
    return secret_key_from_phe(phe_key_2048, SECRET_KEY_ACCESS)
