"""One worker's share of the aggregation: a group of a pattern over some of its windows.

A job reads its slice of the masks straight from the stored uploads: ciphertexts do not travel
through pickles, and a process holds a few thousand of them at a time.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef
from fedperm.ciphertexts import read_ciphertexts
from fedperm.multi_exponentiation import MultiExponentiation, best_bucket_bits
from fedperm.paillier import PublicKey

BASES_AT_ONCE = 512
"""Ciphertexts that a job holds as numbers at a time."""


@dataclass(frozen=True)
class StoredMasks:
    """Masks in a blob, from `offset` on: (patterns, groups, k1, ciphertext bytes)."""

    upload: BlobRef
    offset: int


@dataclass(frozen=True)
class Work:
    """What an operation cost, all processes together.

    modmuls are multiplications modulo n^2, half_size_modmuls those of them by a factor below n;
    split_bases counts the bases that were split for it (`multi_exponentiation`), apart from both.
    """

    cpu_seconds: float = 0.0
    modmuls: int = 0
    half_size_modmuls: int = 0
    split_bases: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.cpu_seconds + other.cpu_seconds,
            self.modmuls + other.modmuls,
            self.half_size_modmuls + other.half_size_modmuls,
            self.split_bases + other.split_bases,
        )


@dataclass(frozen=True)
class JobResult:
    products: list[mpz]
    work: Work


@dataclass(frozen=True)
class FoldJob:
    """`masks` says where each update's k1 ciphertexts of this group lie; `values` are what they
    are raised to: (updates, windows, k1)."""

    public_key: PublicKey
    windows: range
    group: int
    value_bits: int
    masks: tuple[StoredMasks, ...]
    values: NDArray[Any]

    @property
    def k1(self) -> int:
        return int(self.values.shape[2])

    def run(self) -> JobResult:
        start = time.process_time()
        bits = len(self.windows) * self.value_bits
        width = best_bucket_bits(len(self.masks) * self.k1, bits)
        powers = MultiExponentiation(self.public_key.n, len(self.windows), self.value_bits, width)
        for updates, columns in self._blocks():
            bases = [c for masks in self.masks[updates] for c in self._read(masks, columns)]
            exponents = self.values[updates, :, columns].transpose(0, 2, 1)
            powers.add(bases, exponents.reshape(len(bases), -1))
        products = powers.results()
        tally = powers.tally
        seconds = time.process_time() - start
        return JobResult(products, Work(seconds, tally.modmuls, tally.half_size, tally.split_bases))

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        """Several updates at once if their columns are short, a part of one if they are long."""
        updates = max(1, BASES_AT_ONCE // self.k1)
        for first, column in product(
            range(0, len(self.masks), updates), range(0, self.k1, BASES_AT_ONCE)
        ):
            yield slice(first, first + updates), slice(column, column + BASES_AT_ONCE)

    def _read(self, masks: StoredMasks, columns: slice) -> Iterator[mpz]:
        width = self.public_key.ciphertext_bytes
        count = min(columns.stop, self.k1) - columns.start
        start = masks.offset + columns.start * width
        octets = np.frombuffer(open_blob(masks.upload).read(start, count * width), np.uint8)
        return read_ciphertexts(octets.reshape(count, width))


def run_fold_job(job: FoldJob) -> JobResult:
    """A module-level function, as worker processes need it."""
    return job.run()
