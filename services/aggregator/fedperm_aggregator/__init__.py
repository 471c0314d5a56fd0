"""The aggregator: rounds, uploads, norm bounding and the encrypted average.

Sees shuffled values and encrypted masks; never a secret key, a permutation or a model.
"""
