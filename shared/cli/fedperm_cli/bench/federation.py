"""One round of all parties in one process: nothing but the product's own functions, timed."""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum, check_sums, decode_aggregate, encode_aggregate
from fedperm.blobs.files import FileBlobStore
from fedperm.norm_bound import NormBound
from fedperm.planner import Plan
from fedperm.schemes.scheme import Encoder, MaskedValues, StoredUpload, Work
from fedperm.uploads.form import UpdateTerms, examine
from fedperm.uploads.masks import MASKS, VALUES
from fedperm.workers import Workers
from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.settings import ValueKind
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from fedperm_secret.schemes.scheme import SecretHalf, SecretKey

PIECES_PER_STEP = 500
"""Blinding factors between two steps of the progress bar: a fraction of a second."""


@dataclass(frozen=True)
class KeyMaterial:
    """A secret key with its tables, made once for all clients and layouts."""

    key: SecretKey
    half: SecretHalf


def material_of(key: SecretKey, plan: Plan) -> KeyMaterial:
    return KeyMaterial(key, SECRET_SCHEMES[plan.scheme.name].secret_half(key, plan.layout))


@dataclass(frozen=True)
class ClientCost:
    """CPU seconds of one client before and after its values are known, and of the check."""

    offline: float
    online: float
    validate: float


@dataclass(frozen=True)
class Upload:
    """An update as it lies at the aggregator."""

    update: MaskedValues
    body_bytes: int
    cost: ClientCost


@dataclass(frozen=True)
class Fold:
    """The encrypted sum and what it cost, all processes together; of that the jobs alone."""

    total: EncryptedSum
    work: Work
    jobs_cpu_seconds: float
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
        self._half = material.half.with_layout(plan.layout)
        # a limit that no values can exceed, so that the expected sum is the plain one
        limit = 2 * plan.fixed_point.reach * math.sqrt(plan.geometry.padded_d)
        public = plan.scheme.public_half(material.key.public_key, plan.layout)
        self._terms = UpdateTerms(MASKS, plan, NormBound(limit), public)
        self._store = FileBlobStore(directory)
        self._instruments = instruments
        self._clock = instruments.clock

    @property
    def steps_per_client(self) -> int:
        return -(-self.plan.layout.costs(workers=1).ciphertexts // PIECES_PER_STEP)

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
        randomness, body = self._instruments.randomness, self._terms.body
        encoder = self._half.encoder(randomness)
        offline = self._fill(encoder)
        built = timed(self._clock, lambda: MASKS.prepare(coded, self.plan, encoder, randomness))
        octets = body.encode(built.result)
        stored = self._store.write(name, octets)
        checked = timed(self._clock, lambda: examine(memoryview(octets), self._terms))
        cost = ClientCost(offline, built.cpu_seconds, checked.cpu_seconds)
        offsets = {tensor.name: body.offset_of(tensor.name) for tensor in body.tensors}
        update = MaskedValues(StoredUpload(stored, offsets), built.result[VALUES])
        return Upload(update, len(octets), cost)

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

        folded = timed(self._clock, lambda: self._terms.half.fold(updates, workers, on_progress))
        arrays, work = folded.result
        parent = Work(cpu_seconds=folded.cpu_seconds)
        total = EncryptedSum(arrays, len(uploads))
        return Fold(total, work + parent, work.cpu_seconds, folded.wall_seconds)

    def rerandomise(self, total: EncryptedSum, workers: Workers) -> tuple[EncryptedSum, Work]:
        randomness = self._instruments.randomness
        arrays, work = self._terms.half.rerandomise(total.arrays, randomness, workers)
        return EncryptedSum(arrays, total.contributors), work

    def publish(self, total: EncryptedSum, workers: Workers) -> Publication:
        fresh = timed(self._clock, lambda: self.rerandomise(total, workers))
        published, work = fresh.result
        body = encode_aggregate(published, self.plan)
        return Publication(body, fresh.cpu_seconds + work.cpu_seconds)

    def download(self, body: bytes) -> EncryptedSum:
        return decode_aggregate(body, self.plan, self._terms.half)

    def decrypt(self, total: EncryptedSum) -> NDArray[np.int64]:
        """What a client does with a downloaded aggregate: the integer sums (windows, k1)."""
        sums = self._half.decrypt(total.arrays)
        check_sums(sums, total.contributors, self.plan)
        return sums

    def _fill(self, encoder: Encoder) -> float:
        """CPU seconds of what is done ahead of one update; the bar is drawn between the clocks."""
        seconds = 0.0
        while encoder.ready < encoder.ahead:
            count = min(PIECES_PER_STEP, encoder.ahead - encoder.ready)
            seconds += timed(self._clock, partial(encoder.fill, count)).cpu_seconds
            self._instruments.steps.advance()
        return seconds


def _start(_worker: int) -> None:
    """What a process does first: it imports this module, and so everything it needs."""
