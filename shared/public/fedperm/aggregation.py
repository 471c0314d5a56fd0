"""The aggregator's arithmetic: masks times values, product over clients, re-randomising.

Algorithm 1, line 16. The work is cut into jobs of one pattern, one group and a run of windows.
A job reads its slice of the masks straight from the stored uploads: ciphertexts do not travel
through pickles, and a process holds a few thousand of them at a time.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import ParameterError, TooManyClientsError
from fedperm.multi_exponentiation import MultiExponentiation, best_bucket_bits
from fedperm.paillier import PublicKey
from fedperm.planner import Plan

BASES_AT_ONCE = 4096
"""Ciphertexts a job holds as numbers at a time, unless one client's column is longer."""

WINDOWS_PER_JOB = 64
"""Bounds a job's buckets: about 25 MB at 2048-bit keys."""

Progress = Callable[[int, int], None]
"""Called with (jobs done, jobs in all)."""


def ignore_progress(_done: int, _total: int) -> None:
    """For callers without a progress bar."""


@dataclass(frozen=True)
class StoredMasks:
    """Masks in a file, from `offset` on: (patterns, groups, k1, ciphertext bytes)."""

    path: Path
    offset: int


@dataclass(frozen=True)
class BoundedUpdate:
    """A validated upload: its masks where they lie, its values after norm bounding."""

    masks: StoredMasks
    values: NDArray[Any]


@dataclass(frozen=True)
class EncryptedSum:
    """Ciphertexts [window][group] of the sum over `contributors` clients."""

    ciphertexts: tuple[tuple[mpz, ...], ...]
    contributors: int


@dataclass(frozen=True)
class Work:
    """What an operation cost, all processes together; some multiplications are of half size."""

    cpu_seconds: float = 0.0
    modmuls: int = 0
    half_size_modmuls: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.cpu_seconds + other.cpu_seconds,
            self.modmuls + other.modmuls,
            self.half_size_modmuls + other.half_size_modmuls,
        )


@dataclass(frozen=True)
class FoldJob:
    """One group of one pattern over some of its windows, for all updates."""

    public_key: PublicKey
    windows: range
    group: int
    value_bits: int
    mask_shape: tuple[int, int]
    masks: tuple[StoredMasks, ...]
    values: NDArray[Any]


@dataclass(frozen=True)
class FoldResult:
    products: list[mpz]
    work: Work


def fold(
    updates: Sequence[BoundedUpdate],
    plan: Plan,
    public_key: PublicKey,
    executor: Executor,
    *,
    workers: int = 1,
    on_progress: Progress = ignore_progress,
) -> tuple[EncryptedSum, Work]:
    """The contributions of one or several waiting updates, already multiplied together.

    Folding updates together is cheaper than one by one: they share the buckets.
    """
    _check_room(len(updates), plan)
    if not updates:
        raise ParameterError("no update to fold", "wait for at least one upload")
    jobs = list(_jobs(updates, plan, public_key, workers))
    futures = {executor.submit(run_job, job): job for job in jobs}
    rows = [[mpz(1)] * plan.packing.groups for _ in range(plan.geometry.windows)]
    work = Work()
    for job, result in _completed(futures, on_progress):
        for window, product in zip(job.windows, result.products, strict=True):
            rows[window][job.group] = product
        work += result.work
    return EncryptedSum(tuple(tuple(row) for row in rows), len(updates)), work


def combine(parts: Sequence[EncryptedSum], plan: Plan, public_key: PublicKey) -> EncryptedSum:
    """The sum of sums: one modular multiplication per ciphertext and part."""
    contributors = sum(part.contributors for part in parts)
    _check_room(contributors, plan)
    rows = [[mpz(1)] * plan.packing.groups for _ in range(plan.geometry.windows)]
    for part in parts:
        for row, more in zip(rows, part.ciphertexts, strict=True):
            row[:] = [a * b % public_key.n_squared for a, b in zip(row, more, strict=True)]
    return EncryptedSum(tuple(tuple(row) for row in rows), contributors)


def rerandomise(
    total: EncryptedSum, public_key: PublicKey, randomness: Random, executor: Executor
) -> tuple[EncryptedSum, Work]:
    """Fresh blinding for what is published, so that it shows the sum and not how it was made."""
    jobs = [
        executor.submit(_blind, public_key, row, [public_key.draw_unit(randomness) for _ in row])
        for row in total.ciphertexts
    ]
    results = [job.result() for job in jobs]
    rows = tuple(tuple(result.products) for result in results)
    work = sum((result.work for result in results), Work())
    return EncryptedSum(rows, total.contributors), work


def run_job(job: FoldJob) -> FoldResult:
    """A worker's whole task: pure arithmetic over its slice of the stored masks."""
    start = time.process_time()
    k1, _ = job.mask_shape
    bits = len(job.windows) * job.value_bits
    width = best_bucket_bits(len(job.masks) * k1, bits)
    powers = MultiExponentiation(job.public_key.n, len(job.windows), job.value_bits, width)
    at_once = max(1, BASES_AT_ONCE // k1)
    for first in range(0, len(job.masks), at_once):
        batch = slice(first, first + at_once)
        bases = [c for stored in job.masks[batch] for c in _read(stored, job)]
        powers.add(bases, job.values[batch].transpose(0, 2, 1).reshape(len(bases), -1))
    products = powers.results()
    tally = powers.tally
    work = Work(time.process_time() - start, tally.modmuls, tally.half_size)
    return FoldResult(products, work)


def _jobs(
    updates: Sequence[BoundedUpdate], plan: Plan, public_key: PublicKey, workers: int
) -> Iterator[FoldJob]:
    geometry, packing = plan.geometry, plan.packing
    column_bytes = geometry.k1 * public_key.ciphertext_bytes
    values = np.stack([update.values for update in updates])
    for pattern in range(geometry.patterns):
        for windows in _runs(geometry.windows_of(pattern), _parts(plan, workers)):
            for group in range(packing.groups):
                skip = (pattern * packing.groups + group) * column_bytes
                yield FoldJob(
                    public_key,
                    windows,
                    group,
                    packing.value_bits,
                    (geometry.k1, public_key.ciphertext_bytes),
                    tuple(
                        StoredMasks(update.masks.path, update.masks.offset + skip)
                        for update in updates
                    ),
                    values[:, list(windows)],
                )


def _parts(plan: Plan, workers: int) -> int:
    """Into how many jobs a group is cut: enough to keep all workers busy, no more."""
    natural = plan.geometry.patterns * plan.packing.groups
    busy = -(-2 * workers // natural) if workers > 1 else 1
    small = -(-plan.geometry.superwindow // WINDOWS_PER_JOB)
    return max(busy, small)


def _runs(windows: range, parts: int) -> Iterator[range]:
    length = -(-len(windows) // min(parts, len(windows)))
    for start in range(0, len(windows), length):
        yield windows[start : start + length]


def _completed(
    futures: dict["Future[FoldResult]", FoldJob], on_progress: Progress
) -> Iterator[tuple[FoldJob, FoldResult]]:
    for done, future in enumerate(as_completed(futures), 1):
        yield futures[future], future.result()
        on_progress(done, len(futures))


def _read(stored: StoredMasks, job: FoldJob) -> Iterator[mpz]:
    """The job's group of one client's masks, as numbers: k1 ciphertexts that lie together."""
    k1, width = job.mask_shape
    with stored.path.open("rb") as file:
        file.seek(stored.offset)
        octets = file.read(k1 * width)
    for start in range(0, k1 * width, width):
        yield mpz.from_bytes(octets[start : start + width], "little")


def _blind(public_key: PublicKey, row: Sequence[mpz], units: Sequence[mpz]) -> FoldResult:
    start = time.process_time()
    products = [
        ciphertext * public_key.blinding_factor(unit) % public_key.n_squared
        for ciphertext, unit in zip(row, units, strict=True)
    ]
    return FoldResult(products, Work(time.process_time() - start, len(products)))


def _check_room(contributors: int, plan: Plan) -> None:
    if contributors > plan.packing.clients:
        raise TooManyClientsError(
            f"{contributors} contributions, but slots were planned for {plan.packing.clients}",
            "seal the round with fewer clients, or plan the run for more",
        )
