"""What worker processes do: a share of a fold, and fresh blinding for a window of a sum.

A fold job reads its slice of the masks straight from the stored uploads: ciphertexts do not travel
through pickles, and a process holds a few thousand of them at a time.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.schemes.paillier.layout import BASES_AT_ONCE
from fedperm.schemes.paillier.multi_exponentiation import MultiExponentiation, best_bucket_bits
from fedperm.schemes.paillier.public_key import PublicKey, read_ciphertexts
from fedperm.schemes.scheme import StoredUpload, Work


@dataclass(frozen=True)
class JobResult:
    products: list[mpz]
    work: Work


@dataclass(frozen=True)
class FoldJob:
    """A group of a pattern over some of its windows. In every upload the group's k1 ciphertexts
    begin `skip` octets into the masks; `values` are what they are raised to: (updates, windows,
    k1)."""

    public_key: PublicKey
    windows: range
    group: int
    value_bits: int
    uploads: tuple[StoredUpload, ...]
    skip: int
    values: NDArray[Any]

    @property
    def k1(self) -> int:
        return int(self.values.shape[2])

    def run(self) -> JobResult:
        start = time.process_time()
        bits = len(self.windows) * self.value_bits
        width = best_bucket_bits(len(self.uploads) * self.k1, bits)
        powers = MultiExponentiation(self.public_key.n, len(self.windows), self.value_bits, width)
        for updates, columns in self._blocks():
            bases = [c for upload in self.uploads[updates] for c in self._read(upload, columns)]
            exponents = self.values[updates, :, columns].transpose(0, 2, 1)
            powers.add(bases, exponents.reshape(len(bases), -1))
        products = powers.results()
        tally = powers.tally
        counts = Counter(
            modmuls=tally.modmuls,
            half_size_modmuls=tally.half_size,
            split_bases=tally.split_bases,
        )
        return JobResult(products, Work(time.process_time() - start, counts))

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        """Several updates at once if their columns are short, a part of one if they are long."""
        updates = max(1, BASES_AT_ONCE // self.k1)
        for first, column in product(
            range(0, len(self.uploads), updates), range(0, self.k1, BASES_AT_ONCE)
        ):
            yield slice(first, first + updates), slice(column, column + BASES_AT_ONCE)

    def _read(self, upload: StoredUpload, columns: slice) -> Iterator[mpz]:
        width = self.public_key.ciphertext_bytes
        count = min(columns.stop, self.k1) - columns.start
        octets = upload.read("masks", self.skip + columns.start * width, count * width)
        return read_ciphertexts(np.frombuffer(octets, np.uint8).reshape(count, width))


@dataclass(frozen=True)
class BlindJob:
    """Fresh units r for one window's ciphertexts: randomness is drawn by the caller, which has the
    only generator fit for it."""

    public_key: PublicKey
    window: int
    ciphertexts: tuple[mpz, ...]
    units: tuple[mpz, ...]

    def run(self) -> JobResult:
        start, key = time.process_time(), self.public_key
        products = [
            ciphertext * key.blinding_factor(unit) % key.n_squared
            for ciphertext, unit in zip(self.ciphertexts, self.units, strict=True)
        ]
        counts = Counter(modmuls=len(products))
        return JobResult(products, Work(time.process_time() - start, counts))


def run_job(job: FoldJob | BlindJob) -> JobResult:
    """A module-level function, as worker processes need it."""
    return job.run()
