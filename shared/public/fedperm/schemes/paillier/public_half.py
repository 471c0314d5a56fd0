"""The aggregator's arithmetic: masks times values, product over clients, re-randomising."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import ParameterError
from fedperm.schemes.paillier.blinding import BlindingPool, PublicBlinding
from fedperm.schemes.paillier.folding import BlindJob, FoldJob, run_job
from fedperm.schemes.paillier.layout import Cut, PackedLayout
from fedperm.schemes.paillier.masks import MaskEncoder
from fedperm.schemes.paillier.public_key import PublicKey, read_ciphertexts
from fedperm.schemes.scheme import Arrays, MaskedValues, OnProgress, Work, ignore_progress
from fedperm.workers import Workers


@dataclass(frozen=True)
class PaillierPublicHalf:
    public_key: PublicKey
    layout: PackedLayout

    def check_masks(self, masks: Arrays) -> None:
        self.public_key.check_ciphertexts(read_ciphertexts(masks["masks"]))

    def check_sum(self, total: Arrays) -> None:
        self.public_key.check_ciphertexts(read_ciphertexts(total["ciphertexts"]))

    def fold(
        self,
        updates: Sequence[MaskedValues],
        workers: Workers,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        """Folding updates together is cheaper than one by one: they share the buckets (ADR 9)."""
        self._check(updates)
        cuts = list(self.layout.cuts(len(updates), workers.count))
        rows = self._ones()
        work = Work()
        jobs = (self._job(cut, updates) for cut in cuts)
        for done, (job, result) in enumerate(workers.run(run_job, jobs), 1):
            for window, number in zip(job.windows, result.products, strict=True):
                rows[window][job.group] = number
            work += result.work
            on_progress(done, len(cuts))
        return self._sum(rows), work

    def combine(self, parts: Sequence[Arrays]) -> Arrays:
        """One modular multiplication per ciphertext and part."""
        rows, n_squared = self._ones(), self.public_key.n_squared
        for part in parts:
            for row, more in zip(rows, self._rows(part), strict=True):
                row[:] = [a * b % n_squared for a, b in zip(row, more, strict=True)]
        return self._sum(rows)

    def rerandomise(
        self,
        total: Arrays,
        randomness: Random,
        workers: Workers,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        key, rows, work = self.public_key, self._rows(total), Work()
        jobs = (
            BlindJob(key, window, tuple(row), tuple(key.draw_unit(randomness) for _ in row))
            for window, row in enumerate(rows)
        )
        for done, (job, result) in enumerate(workers.run(run_job, jobs), 1):
            rows[job.window] = result.products
            work += result.work
            on_progress(done, len(rows))
        return self._sum(rows), work

    def encoder(self, randomness: Random) -> MaskEncoder:
        pool = BlindingPool(PublicBlinding(self.public_key), randomness)
        return MaskEncoder(self.layout, pool)

    def _check(self, updates: Sequence[MaskedValues]) -> None:
        if not updates:
            raise ParameterError("no update to fold", "wait for at least one upload")
        self.layout.check_room(len(updates))
        shape = (self.layout.geometry.windows, self.layout.geometry.k1)
        if any(update.values.shape != shape for update in updates):
            raise ParameterError(f"an update's values are not {shape}", "fold updates of one plan")

    def _job(self, cut: Cut, updates: Sequence[MaskedValues]) -> FoldJob:
        packing, k1 = self.layout.packing, self.layout.geometry.k1
        skip = (cut.pattern * packing.groups + cut.group) * k1 * self.public_key.ciphertext_bytes
        uploads = tuple(update.upload for update in updates)
        values = np.stack([update.values[list(cut.windows)] for update in updates])
        return FoldJob(
            self.public_key, cut.windows, cut.group, packing.value_bits, uploads, skip, values
        )

    def _ones(self) -> list[list[mpz]]:
        """Ciphertexts [window][group] of an empty sum."""
        return [[mpz(1)] * self.layout.packing.groups for _ in range(self.layout.geometry.windows)]

    def _rows(self, total: Arrays) -> list[list[mpz]]:
        numbers = read_ciphertexts(total["ciphertexts"])
        groups = self.layout.packing.groups
        return [list(islice(numbers, groups)) for _ in range(self.layout.geometry.windows)]

    def _sum(self, rows: Sequence[Sequence[mpz]]) -> Arrays:
        numbers = (number for row in rows for number in row)
        shape = (self.layout.geometry.windows, self.layout.packing.groups)
        array: NDArray[np.uint8] = self.public_key.to_array(numbers, *shape)
        return {"ciphertexts": array}
