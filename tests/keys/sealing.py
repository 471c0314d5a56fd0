"""Paillier keys where they lie sealed: opened as key server and client open them."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from fedperm_keyserver.records import Epoch
from fedperm_keyserver.vault import Vault
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_from_bytes, secret_key_to_bytes
from fedperm_secret.sealed import open_sealed, seal


def seal_key(secret_key: SecretKey, recipient: X25519PublicKey, **place: Any) -> bytes:
    return seal(secret_key_to_bytes(secret_key, SECRET_KEY_ACCESS), recipient, **place)


def taken_out(vault: Vault, epoch: Epoch) -> SecretKey:
    """An epoch's secret key, as only the key server itself can take it out."""
    octets = vault.take_out(epoch)
    return secret_key_from_bytes(octets, SECRET_KEY_ACCESS, insecure_for_tests=True)


def open_key(sealed: bytes, recipient: X25519PrivateKey, **place: Any) -> SecretKey:
    octets = open_sealed(sealed, recipient, **place)
    return secret_key_from_bytes(octets, SECRET_KEY_ACCESS, insecure_for_tests=True)
