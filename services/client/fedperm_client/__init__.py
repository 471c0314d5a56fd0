"""The client worker: local training, noise, shuffling, encryption, upload, decryption.

Keeps its data, its permutations and its privacy ledger to itself.
"""
