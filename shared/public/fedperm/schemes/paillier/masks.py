"""Packed permutation masks: what the client encrypts (Algorithm 1, lines 11 and 12).

Column j of a pattern's mask has its single 1 in row pi[j]. Its rows are packed group by group:
one ciphertext holds 2^(slot width * slot) for the group in which row pi[j] falls, all others
hold 0. The aggregator cannot tell them apart. ADR 2 says why this is the paper's scheme.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.permutation import Permutation
from fedperm.planner import Plan
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.public_key import PublicKey

EncryptedMasks = NDArray[np.uint8]
"""Shape (patterns, groups, k1, ciphertext bytes): what one fold job reads lies together."""


class MaskEncoder:
    """Encrypts masks under one key and packing; keeps the table of g^(2^(slot width * slot))."""

    def __init__(self, public_key: PublicKey, plan: Plan) -> None:
        plan.check_key(public_key)
        packing = plan.packing
        self._public_key = public_key
        self._patterns = plan.geometry.patterns
        self._packing = packing
        self._units = [
            public_key.message_factor(packing.unit(slot)) for slot in range(packing.slots)
        ]

    def encrypt(self, patterns: Sequence[Permutation], pool: BlindingPool) -> EncryptedMasks:
        """The masks of all patterns, each ciphertext under a blinding factor of its own."""
        self._check(patterns, pool)
        shape = (len(patterns), self._packing.groups, self._packing.k1)
        factors = iter(pool.take(int(np.prod(shape))))
        octets = b"".join(
            self._public_key.to_bytes(ciphertext)
            for pattern in patterns
            for group in range(self._packing.groups)
            for ciphertext in self._group(pattern, group, factors)
        )
        return np.frombuffer(octets, dtype=np.uint8).reshape(
            *shape, self._public_key.ciphertext_bytes
        )

    def _check(self, patterns: Sequence[Permutation], pool: BlindingPool) -> None:
        if pool.public_key != self._public_key:
            raise ParameterError(
                "the pool's blinding factors belong to another key", "start a pool for this key"
            )
        rows = np.arange(self._packing.k1)
        permutations = all(np.array_equal(np.sort(pattern), rows) for pattern in patterns)
        if len(patterns) != self._patterns or not permutations:
            raise ParameterError(
                f"not {self._patterns} permutation(s) of {self._packing.k1} positions",
                "draw the patterns with draw_patterns(geometry, randomness)",
            )

    def _group(self, pattern: Permutation, group: int, factors: Iterable[mpz]) -> list[mpz]:
        """One ciphertext a column: the blinding factor alone, or times the slot's unit."""
        n_squared = self._public_key.n_squared
        groups, slots = np.divmod(pattern, self._packing.slots)
        return [
            factor * self._units[slot] % n_squared if own else factor
            for own, slot, factor in zip(
                (groups == group).tolist(), slots.tolist(), factors, strict=False
            )
        ]
