"""Packed permutation masks: what the client encrypts (Algorithm 1, lines 11 and 12).

Column j of a pattern's mask has its single 1 in row pi[j]. Its rows are packed group by group:
one ciphertext holds 2^(slot width * slot) for the group in which row pi[j] falls, all others
hold 0. The aggregator cannot tell them apart. ADR 2 says why this is the paper's scheme.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import numpy as np
from gmpy2 import mpz

from fedperm.errors import ParameterError
from fedperm.permutation import Permutation
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.layout import PackedLayout
from fedperm.schemes.scheme import Arrays


class MaskEncoder:
    """Encrypts under the pool's key; keeps the table of g^(2^(slot width * slot))."""

    def __init__(self, layout: PackedLayout, pool: BlindingPool) -> None:
        self._layout = layout
        self._pool = pool
        self._units = [
            pool.public_key.message_factor(layout.packing.unit(slot))
            for slot in range(layout.packing.slots)
        ]

    @property
    def ahead(self) -> int:
        """Blinding factors of one upload."""
        return self._layout.mask_ciphertexts

    @property
    def ready(self) -> int:
        return len(self._pool)

    def fill(self, count: int) -> None:
        self._pool.fill(count)

    def filling(self) -> AbstractContextManager[None]:
        return self._pool.filling(self.ahead)

    def encode(self, patterns: Sequence[Permutation]) -> Arrays:
        """Each ciphertext is under a blinding factor of its own."""
        geometry, groups = self._layout.geometry, self._layout.packing.groups
        rows = np.arange(geometry.k1)
        permutations = all(np.array_equal(np.sort(pattern), rows) for pattern in patterns)
        if len(patterns) != geometry.patterns or not permutations:
            raise ParameterError(
                f"not {geometry.patterns} permutation(s) of {geometry.k1} positions",
                "draw the patterns with draw_patterns(geometry, randomness)",
            )
        factors = iter(self._pool.take(self.ahead))
        ciphertexts = (
            ciphertext
            for pattern in patterns
            for group in range(groups)
            for ciphertext in self._group(pattern, group, factors)
        )
        key = self._pool.public_key
        return {"masks": key.to_array(ciphertexts, len(patterns), groups, geometry.k1)}

    def _group(self, pattern: Permutation, group: int, factors: Iterable[mpz]) -> list[mpz]:
        """One ciphertext a column: the blinding factor alone, or times the slot's unit."""
        n_squared = self._pool.public_key.n_squared
        groups, slots = np.divmod(pattern, self._layout.packing.slots)
        return [
            factor * self._units[slot] % n_squared if own else factor
            for own, slot, factor in zip(
                (groups == group).tolist(), slots.tolist(), factors, strict=False
            )
        ]
