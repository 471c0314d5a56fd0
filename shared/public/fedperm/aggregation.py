"""The aggregator's arithmetic: masks times values, product over clients, re-randomising.

Algorithm 1, line 16. The work is cut into jobs (`fold_job`) for worker processes.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from fedperm.errors import ParameterError, TooManyClientsError
from fedperm.fold_job import FoldJob, JobResult, StoredMasks, Work, run_fold_job
from fedperm.multi_exponentiation import bucket_bytes
from fedperm.paillier import PublicKey
from fedperm.planner import Plan
from fedperm.workers import Workers

BUCKET_BYTES = 1 << 26
"""The most that a job's buckets may take; with many clients a job gets fewer windows."""

Progress = Callable[[int, int], None]
"""Called with (jobs done, jobs in all)."""


def ignore_progress(_done: int, _total: int) -> None:
    """For callers without a progress bar."""


@dataclass(frozen=True, eq=False)
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
class Cut:
    """The part of the work that one job does."""

    pattern: int
    windows: range
    group: int


def fold(
    updates: Sequence[BoundedUpdate],
    plan: Plan,
    public_key: PublicKey,
    workers: Workers,
    on_progress: Progress = ignore_progress,
) -> tuple[EncryptedSum, Work]:
    """The contributions of one or several waiting updates, already multiplied together.

    Folding updates together is cheaper than one by one: they share the buckets.
    """
    _check(updates, plan, public_key)
    cuts = list(cuts_of(plan, len(updates), workers.count))
    jobs = (_job(cut, updates, plan, public_key) for cut in cuts)
    rows = [[mpz(1)] * plan.packing.groups for _ in range(plan.geometry.windows)]
    work = Work()
    for done, (job, result) in enumerate(workers.run(run_fold_job, jobs), 1):
        for window, number in zip(job.windows, result.products, strict=True):
            rows[window][job.group] = number
        work += result.work
        on_progress(done, len(cuts))
    return EncryptedSum(tuple(map(tuple, rows)), len(updates)), work


def combine(parts: Sequence[EncryptedSum], plan: Plan, public_key: PublicKey) -> EncryptedSum:
    """The sum of sums: one modular multiplication per ciphertext and part."""
    contributors = sum(part.contributors for part in parts)
    _check_room(contributors, plan)
    rows = [[mpz(1)] * plan.packing.groups for _ in range(plan.geometry.windows)]
    for part in parts:
        for row, more in zip(rows, part.ciphertexts, strict=True):
            row[:] = [a * b % public_key.n_squared for a, b in zip(row, more, strict=True)]
    return EncryptedSum(tuple(map(tuple, rows)), contributors)


@dataclass(frozen=True)
class BlindJob:
    """Fresh units r for one window's ciphertexts: randomness is drawn by the caller."""

    public_key: PublicKey
    window: int
    ciphertexts: tuple[mpz, ...]
    units: tuple[mpz, ...]


def rerandomise(
    total: EncryptedSum,
    public_key: PublicKey,
    randomness: Random,
    workers: Workers,
    on_progress: Progress = ignore_progress,
) -> tuple[EncryptedSum, Work]:
    """Fresh blinding for what is published, so that it shows the sum and not how it was made."""
    jobs = (
        BlindJob(public_key, window, row, tuple(public_key.draw_unit(randomness) for _ in row))
        for window, row in enumerate(total.ciphertexts)
    )
    rows: list[tuple[mpz, ...]] = [()] * len(total.ciphertexts)
    work = Work()
    for done, (job, result) in enumerate(workers.run(_blind, jobs), 1):
        rows[job.window] = tuple(result.products)
        work += result.work
        on_progress(done, len(rows))
    return EncryptedSum(tuple(rows), total.contributors), work


def _blind(job: BlindJob) -> JobResult:
    start = time.process_time()
    key = job.public_key
    products = [
        ciphertext * key.blinding_factor(unit) % key.n_squared
        for ciphertext, unit in zip(job.ciphertexts, job.units, strict=True)
    ]
    return JobResult(products, Work(time.process_time() - start, len(products)))


def cuts_of(plan: Plan, updates: int, workers: int) -> Iterator[Cut]:
    """Every window of every group once, in jobs that keep the workers busy and fit in memory."""
    geometry, groups = plan.geometry, plan.packing.groups
    shared_out = -(-2 * workers // (geometry.patterns * groups)) if workers > 1 else 1
    length = min(-(-geometry.superwindow // shared_out), _windows_that_fit(plan, updates))
    for pattern in range(geometry.patterns):
        windows = geometry.windows_of(pattern)
        for start, group in product(range(0, len(windows), length), range(groups)):
            yield Cut(pattern, windows[start : start + length], group)


def _windows_that_fit(plan: Plan, updates: int) -> int:
    """As many windows as a job's buckets have room for, but at least one."""
    bases, packing = updates * plan.geometry.k1, plan.packing
    windows = plan.geometry.superwindow
    while windows > 1:
        if bucket_bytes(bases, windows * packing.value_bits, packing.key_bits) <= BUCKET_BYTES:
            break
        windows = -(-windows // 2)
    return windows


def _job(cut: Cut, updates: Sequence[BoundedUpdate], plan: Plan, public_key: PublicKey) -> FoldJob:
    group_number = cut.pattern * plan.packing.groups + cut.group
    skip = group_number * plan.geometry.k1 * public_key.ciphertext_bytes
    return FoldJob(
        public_key,
        cut.windows,
        cut.group,
        plan.packing.value_bits,
        tuple(StoredMasks(update.masks.upload, update.masks.offset + skip) for update in updates),
        np.stack([update.values[list(cut.windows)] for update in updates]),
    )


def _check(updates: Sequence[BoundedUpdate], plan: Plan, public_key: PublicKey) -> None:
    plan.check_key(public_key)
    _check_room(len(updates), plan)
    if not updates:
        raise ParameterError("no update to fold", "wait for at least one upload")
    shape = (plan.geometry.windows, plan.geometry.k1)
    if any(update.values.shape != shape for update in updates):
        raise ParameterError(f"an update's values are not {shape}", "fold updates of one plan")


def _check_room(contributors: int, plan: Plan) -> None:
    if contributors > plan.packing.clients:
        raise TooManyClientsError(
            f"{contributors} contributions, but slots were planned for {plan.packing.clients}",
            "seal the round with fewer clients, or plan the run for more",
        )
