"""Masks and sums of one run as packed ciphertexts: tensors, reasons, and what they cost."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from fedperm.errors import TooManyClientsError
from fedperm.schemes.paillier.multi_exponentiation import (
    HALF_SIZE_COST,
    SPLIT_COST,
    best_bucket_bits,
    bucket_bytes,
    chunk_count,
    multiplications,
    splitting_pays,
)
from fedperm.schemes.paillier.packing import Packing
from fedperm.schemes.scheme import Costs
from fedperm.windows import Geometry
from fedperm.wire.body import Tensor

MAX_BUCKET_BYTES = 1 << 26
"""The most that a job's buckets may take; with many clients a job gets fewer windows."""

BASES_AT_ONCE = 512
"""Ciphertexts that a job holds as numbers at a time."""

_TABLE_ENTRIES = 256
_OBJECT_BYTES = 56
"""Of a Python number beside its digits."""


@dataclass(frozen=True)
class Cut:
    """The part of a fold that one job does."""

    pattern: int
    windows: range
    group: int


@dataclass(frozen=True)
class PackedLayout:
    """Masks are (patterns, groups, k1) ciphertexts, so that what one job reads lies together; sums
    are (windows, groups)."""

    geometry: Geometry
    packing: Packing

    @property
    def clients(self) -> int:
        return self.packing.clients

    @cached_property
    def masks(self) -> tuple[Tensor, ...]:
        shape = (self.geometry.patterns, self.packing.groups, self.geometry.k1, self._octets)
        return (Tensor("masks", np.dtype("u1"), shape),)

    @cached_property
    def sums(self) -> tuple[Tensor, ...]:
        shape = (self.geometry.windows, self.packing.groups, self._octets)
        return (Tensor("ciphertexts", np.dtype("u1"), shape),)

    @property
    def mask_ciphertexts(self) -> int:
        """What one client encrypts and uploads."""
        return self.units * self.packing.groups

    @property
    def units(self) -> int:
        """Those of them that hold a 1: one for each column of each pattern's mask."""
        return self.geometry.patterns * self.geometry.k1

    @property
    def sum_ciphertexts(self) -> int:
        """What the aggregator publishes and every client decrypts."""
        return self.geometry.windows * self.packing.groups

    @cached_property
    def bucket_bits(self) -> int:
        """The best width for folding all clients at once; a smaller fold chooses its own."""
        bits = self.geometry.superwindow * self.packing.value_bits
        return best_bucket_bits(self.clients * self.geometry.k1, bits)

    @property
    def modmuls(self) -> int:
        """Forecast for folding all clients at once."""
        bits = self.geometry.superwindow * self.packing.value_bits
        each = multiplications(self.clients * self.geometry.k1, bits, self.bucket_bits)
        return self.geometry.patterns * self.packing.groups * sum(each)

    @property
    def reasons(self) -> tuple[str, ...]:
        packing = self.packing
        return (
            f"slots: {packing.slot_bits} bits hold the sum of {packing.clients} client(s), at most "
            f"{packing.top_sum:,}; a {packing.key_bits}-bit plaintext has {packing.slots} of them, "
            f"so a column of {packing.k1:,} rows needs {packing.groups} group(s)",
            f"buckets: digits of {self.bucket_bits} bits cost the fewest multiplications when "
            f"{packing.clients} updates are folded together, about {self.modmuls:,}",
        )

    @property
    def facts(self) -> Mapping[str, int]:
        packing = self.packing
        return {
            "key_bits": packing.key_bits,
            "slot_bits": packing.slot_bits,
            "slots": packing.slots,
            "groups": packing.groups,
        }

    def check_room(self, contributors: int) -> None:
        """Slots are cut for so many clients: with more a sum could carry into its neighbour."""
        if contributors > self.clients:
            raise TooManyClientsError(
                f"{contributors} contributions, but slots were planned for {self.clients}",
                "seal the round with fewer clients, or plan the run for more",
            )

    def cuts(self, updates: int, workers: int) -> Iterator[Cut]:
        """Every window of every group once, in jobs that keep workers busy and fit in memory."""
        geometry, groups = self.geometry, self.packing.groups
        shared_out = -(-2 * workers // (geometry.patterns * groups)) if workers > 1 else 1
        length = min(-(-geometry.superwindow // shared_out), self._windows_that_fit(updates))
        for pattern in range(geometry.patterns):
            windows = geometry.windows_of(pattern)
            for start, group in product(range(0, len(windows), length), range(groups)):
                yield Cut(pattern, windows[start : start + length], group)

    def costs(self, workers: int) -> Costs:
        counts = self._fold_counts(workers)
        return Costs(
            ciphertexts=self.mask_ciphertexts,
            units=self.units,
            sums=self.sum_ciphertexts,
            fold=counts,
            fold_weight=self.weight(counts),
            client_octets=self._client_octets(),
            worker_octets=self._worker_octets(workers),
        )

    def weight(self, counts: Counter[str]) -> float:
        """In full-size multiplications."""
        halves = counts["half_size_modmuls"]
        full_size = counts["modmuls"] - halves
        return full_size + halves * HALF_SIZE_COST + counts["split_bases"] * SPLIT_COST

    @property
    def _octets(self) -> int:
        """Of one ciphertext: a number below n^2."""
        return self.packing.key_bits // 4

    def _windows_that_fit(self, updates: int) -> int:
        """As many windows as a job's buckets have room for, but at least one."""
        bases, packing, windows = (
            updates * self.geometry.k1,
            self.packing,
            self.geometry.superwindow,
        )
        while windows > 1:
            needed = bucket_bytes(bases, windows * packing.value_bits, packing.key_bits)
            if needed <= MAX_BUCKET_BYTES:
                break
            windows = -(-windows // 2)
        return windows

    def _fold_counts(self, workers: int) -> Counter[str]:
        """The multiplications of one fold of all clients, as its jobs will be cut."""
        bases = self.clients * self.geometry.k1
        lengths = Counter(len(cut.windows) for cut in self.cuts(self.clients, workers))
        counts: Counter[str] = Counter()
        for length, jobs in lengths.items():
            bits = length * self.packing.value_bits
            width = best_bucket_bits(bases, bits)
            into_buckets, others = multiplications(bases, bits, width)
            counts["modmuls"] += jobs * (into_buckets + others)
            if splitting_pays(chunk_count(bits, width)):
                counts["half_size_modmuls"] += jobs * into_buckets
                counts["split_bases"] += jobs * bases
        return counts

    def _client_octets(self) -> int:
        """Tables for p and q, and a pool of blinding factors."""
        prime_octets = self._octets // 4
        table = prime_octets * _TABLE_ENTRIES * (2 * prime_octets + 2 * _OBJECT_BYTES)
        return 2 * table + self.mask_ciphertexts * (self._octets + _OBJECT_BYTES)

    def _worker_octets(self, workers: int) -> int:
        """The buckets of the longest job, and a block of ciphertexts as numbers."""
        bases, packing = self.clients * self.geometry.k1, self.packing
        longest = max(len(cut.windows) for cut in self.cuts(self.clients, workers))
        buckets = bucket_bytes(bases, longest * packing.value_bits, packing.key_bits)
        return buckets + BASES_AT_ONCE * 3 * (self._octets + _OBJECT_BYTES)
