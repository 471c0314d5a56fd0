"""Paillier with p and q: keys, their storage, fast blinding and decryption."""
