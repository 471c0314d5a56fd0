"""One round of all parties in one process: nothing but the product's own functions, timed."""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregation import (
    BoundedUpdate,
    EncryptedSum,
    fold,
    rerandomise,
)
from fedperm.averaging import unpack_sum
from fedperm.blinding import BlindingPool
from fedperm.blobs.files import FileBlobStore
from fedperm.blobs.store import BlobRef
from fedperm.fold_job import StoredMasks, Work
from fedperm.masks import MaskEncoder
from fedperm.norm_bound import NormBound
from fedperm.permutation import draw_patterns
from fedperm.planner import Plan
from fedperm.update import Update, build_update
from fedperm.wire.aggregate import decode_aggregate, encode_aggregate
from fedperm.wire.update import decode_update, encode_update, update_body
from fedperm.workers import Workers
from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.settings import ValueKind
from fedperm_secret.decryption import Decryptor
from fedperm_secret.fixed_base import SecretBlinding
from fedperm_secret.keys import SecretKey

FACTORS_PER_STEP = 500
"""Blinding factors between two steps of the progress bar: a fraction of a second."""


@dataclass(frozen=True)
class KeyMaterial:
    """A secret key with its tables, made once for all clients."""

    key: SecretKey
    blinding: SecretBlinding
    decryptor: Decryptor


@dataclass(frozen=True)
class ClientCost:
    """CPU seconds of one client before and after its values are known, and of the check."""

    offline: float
    online: float
    validate: float


@dataclass(frozen=True)
class Upload:
    """An update as it lies at the aggregator."""

    update: BoundedUpdate
    body_bytes: int
    cost: ClientCost


@dataclass(frozen=True)
class Fold:
    """The encrypted sum and what it cost, all processes together."""

    total: EncryptedSum
    work: Work
    wall_seconds: float


@dataclass(frozen=True)
class Publication:
    """The aggregate's body as clients download it, and the CPU seconds of re-randomising."""

    body: bytes
    rerandomise_cpu_seconds: float


class Federation:
    """Clients, aggregator and wire of one plan; uploads are stored in `directory`."""

    def __init__(
        self, plan: Plan, material: KeyMaterial, directory: Path, instruments: Instruments
    ) -> None:
        self.plan = plan
        self._material = material
        self._public_key = material.key.public_key
        self._store = FileBlobStore(directory)
        self._instruments = instruments
        self._clock = instruments.clock
        self._encoder = MaskEncoder(self._public_key, plan)

    @property
    def steps_per_client(self) -> int:
        return -(-self.plan.mask_ciphertexts // FACTORS_PER_STEP)

    def draw_values(self, kind: ValueKind) -> NDArray[Any]:
        """Coded windows of one client, padded positions included."""
        shape = (self.plan.geometry.windows, self.plan.geometry.k1)
        fixed_point = self.plan.fixed_point
        if kind is ValueKind.RANDOM:
            generator = np.random.default_rng(self._instruments.randomness.getrandbits(128))
            return generator.integers(0, fixed_point.top, shape, fixed_point.dtype, endpoint=True)
        constant = fixed_point.top if kind is ValueKind.MAXIMUM else 0
        return np.full(shape, constant, fixed_point.dtype)

    def upload(self, name: str, coded: NDArray[Any]) -> Upload:
        """One client's masks, drawn and encrypted afresh, and the aggregator's check of them."""
        pool = BlindingPool(self._material.blinding, self._instruments.randomness)
        offline = self._fill(pool)
        built = timed(self._clock, lambda: self._build(coded, pool))
        body = encode_update(built.result, self.plan, self._public_key)
        stored = self._store.write(name, body)
        checked = timed(self._clock, lambda: decode_update(body, self.plan, self._public_key))
        cost = ClientCost(offline, built.cpu_seconds, checked.cpu_seconds)
        return Upload(self._bound(stored, checked.result), len(body), cost)

    def fold(self, uploads: list[Upload], workers: Workers) -> Fold:
        """All uploads at once. The processes are started before the clock: a running aggregator
        has them. Drawing the bar is counted: a millisecond or two a job."""
        list(workers.run(_start, range(workers.count)))
        steps = self._instruments.steps
        updates = [upload.update for upload in uploads]

        def on_progress(done: int, total: int) -> None:
            if done == 1:
                steps.begin("Folding", total)
            steps.advance()

        folded = timed(
            self._clock,
            lambda: fold(updates, self.plan, self._public_key, workers, on_progress),
        )
        total, work = folded.result
        parent = Work(cpu_seconds=folded.cpu_seconds)
        return Fold(total, work + parent, folded.wall_seconds)

    def publish(self, total: EncryptedSum, workers: Workers) -> Publication:
        randomness = self._instruments.randomness
        fresh = timed(
            self._clock, lambda: rerandomise(total, self._public_key, randomness, workers)
        )
        published, work = fresh.result
        body = encode_aggregate(published, self.plan, self._public_key)
        return Publication(body, fresh.cpu_seconds + work.cpu_seconds)

    def download(self, body: bytes) -> EncryptedSum:
        return decode_aggregate(body, self.plan, self._public_key)

    def decrypt(self, total: EncryptedSum) -> NDArray[np.int64]:
        """What a client does with a downloaded aggregate: the integer sums (windows, k1)."""
        plaintexts = self._material.decryptor.decrypt_sum(total)
        return unpack_sum(plaintexts, total.contributors, self.plan)

    def _fill(self, pool: BlindingPool) -> float:
        """CPU seconds to fill the pool for one update; the bar is drawn between the clocks."""
        wanted, seconds = self.plan.mask_ciphertexts, 0.0
        while len(pool) < wanted:
            count = min(FACTORS_PER_STEP, wanted - len(pool))
            seconds += timed(self._clock, partial(pool.fill, count)).cpu_seconds
            self._instruments.steps.advance()
        return seconds

    def _build(self, coded: NDArray[Any], pool: BlindingPool) -> Update:
        patterns = draw_patterns(self.plan.geometry, self._instruments.randomness)
        return build_update(coded, patterns, self.plan.geometry, self._encoder, pool)

    def _bound(self, stored: BlobRef, update: Update) -> BoundedUpdate:
        """Norm bounding as the aggregator does it, with a limit that no values can exceed, so
        that the expected sum is the plain one."""
        fixed_point = self.plan.fixed_point
        limit = 2 * fixed_point.reach * math.sqrt(update.values.size)
        bounded = NormBound(limit).apply(update.values, fixed_point)
        offset = update_body(self.plan, self._public_key).offset_of("masks")
        return BoundedUpdate(StoredMasks(stored, offset), bounded.values)


def _start(_worker: int) -> None:
    """What a process does first: it imports this module, and so everything it needs."""
