"""One run: our phases, python-paillier's operations and the machine's own speed, interleaved.

The machine may be shared, and its speed then drifts by a fifth within seconds. So whatever is
compared is measured close together in time, and summarised alike on both sides:

- encryption: the mean over clients, and the mean over rounds of python-paillier in between;
- aggregation: one fold of all clients, between two halves of the rounds of python-paillier and
  of modular multiplications, of which the median counts;
- decryption: the fastest of rounds taken in turn. The same work is done every time, and a busy
  machine can only slow it down.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum
from fedperm.planner import Plan
from fedperm.workers import Workers, worker_processes
from fedperm_cli.bench.baseline import OperationSeconds, PythonPaillier, summarise
from fedperm_cli.bench.federation import (
    ClientCost,
    Federation,
    Fold,
    KeyMaterial,
    Upload,
    material_of,
)
from fedperm_cli.bench.measurement import (
    Instruments,
    ModularMultiplication,
    peak_rss_bytes,
    timed,
)
from fedperm_cli.bench.settings import Settings
from fedperm_secret.schemes.registry import SECRET_SCHEMES

BASELINE_ENCRYPTION_ROUNDS = 6
"""At the least; one follows every client."""

AGGREGATION_ROUNDS = 5
"""Before the fold, and again after it."""

MODMUL_BATCHES = 15
"""Before the fold, and again after it."""

DECRYPTION_ROUNDS = 25
DECRYPTIONS_IN_ALL = 1500
"""Large aggregates are decrypted fewer times: they average over the machine's drift alone."""


@dataclass(frozen=True)
class Encryption:
    """All clients' uploads, the sum of what they hold, and the baseline measured in between."""

    uploads: list[Upload]
    expected: NDArray[np.int64]
    baseline_rounds: list[float]


@dataclass(frozen=True)
class Aggregation:
    fold: Fold
    modmul_seconds: float
    baseline_rounds: list[float]


@dataclass(frozen=True)
class Decryption:
    sums: NDArray[np.int64]
    cpu_seconds: float
    baseline_rounds: list[float]


@dataclass(frozen=True)
class Measurements:
    """Everything one run found out."""

    plan: Plan
    upload_bytes: int
    download_bytes: int
    table_cpu_seconds: float
    client: ClientCost
    fold: Fold
    modmul_seconds: float
    rerandomise_cpu_seconds: float
    decrypt_cpu_seconds: float
    peak_rss_bytes: int
    exact: bool
    baseline: OperationSeconds


@dataclass(frozen=True)
class PreparedKey:
    material: KeyMaterial
    table_cpu_seconds: float


def prepare_key(settings: Settings, instruments: Instruments) -> PreparedKey:
    """A fresh key and its tables."""
    instruments.steps.begin("Key and tables", 2)
    plan = settings.plan()
    key = SECRET_SCHEMES[plan.scheme.name].generate(plan.scheme, instruments.randomness)
    instruments.steps.advance()
    material = material_of(key, plan)
    tables = timed(instruments.clock, material.half.warm_up)
    instruments.steps.advance()
    return PreparedKey(material, tables.cpu_seconds)


def run(settings: Settings, prepared: PreparedKey, instruments: Instruments) -> Measurements:
    """The whole round, from masks to the decrypted sum."""
    with TemporaryDirectory(prefix="fedperm-bench-") as directory:
        experiment = Experiment(settings, prepared, Path(directory), instruments)
        return experiment.run()


class Experiment:
    """The phases of one run, in order."""

    def __init__(
        self, settings: Settings, prepared: PreparedKey, directory: Path, instruments: Instruments
    ) -> None:
        self._settings = settings
        self._prepared = prepared
        self._instruments = instruments
        plan = settings.plan()
        key = prepared.material.key
        self._federation = Federation(plan, prepared.material, directory, instruments)
        self._baseline = PythonPaillier(key, plan.fixed_point.value_bits, instruments)
        self._modmul = ModularMultiplication(key.public_key, instruments)

    def run(self) -> Measurements:
        encryption = self._encrypt()
        with worker_processes(self._settings.processes) as workers:
            aggregation = self._aggregate(encryption.uploads, workers)
            self._instruments.steps.begin("Re-randomising", 1)
            publication = self._federation.publish(aggregation.fold.total, workers)
            self._instruments.steps.advance()
        decryption = self._decrypt(self._federation.download(publication.body))
        return Measurements(
            plan=self._federation.plan,
            upload_bytes=encryption.uploads[0].body_bytes,
            download_bytes=len(publication.body),
            table_cpu_seconds=self._prepared.table_cpu_seconds,
            client=mean_cost([upload.cost for upload in encryption.uploads]),
            fold=aggregation.fold,
            modmul_seconds=aggregation.modmul_seconds,
            rerandomise_cpu_seconds=publication.rerandomise_cpu_seconds,
            decrypt_cpu_seconds=decryption.cpu_seconds,
            peak_rss_bytes=peak_rss_bytes(self._settings.processes),
            exact=bool(np.array_equal(decryption.sums, encryption.expected)),
            baseline=summarise(
                encryption.baseline_rounds, aggregation.baseline_rounds, decryption.baseline_rounds
            ),
        )

    def _encrypt(self) -> Encryption:
        clients = self._settings.clients
        rounds_per_client = -(-BASELINE_ENCRYPTION_ROUNDS // clients)
        geometry = self._federation.plan.geometry
        expected = np.zeros((geometry.windows, geometry.k1), np.int64)
        uploads, rounds = [], []
        self._instruments.steps.begin("Encrypting", clients * self._federation.steps_per_client)
        for client in range(clients):
            coded = self._federation.draw_values(self._settings.values)
            expected += coded
            uploads.append(self._federation.upload(str(client), coded))
            rounds += [self._baseline.encryption() for _ in range(rounds_per_client)]
        return Encryption(uploads, expected, rounds)

    def _aggregate(self, uploads: list[Upload], workers: Workers) -> Aggregation:
        products, batches = self._aggregation_rounds(), self._modmul.batches(MODMUL_BATCHES)
        folded = self._federation.fold(uploads, workers)
        batches += self._modmul.batches(MODMUL_BATCHES)
        products += self._aggregation_rounds()
        return Aggregation(folded, median(batches), products)

    def _aggregation_rounds(self) -> list[float]:
        return [self._baseline.product() for _ in range(AGGREGATION_ROUNDS)]

    def _decrypt(self, total: EncryptedSum) -> Decryption:
        rounds = decryption_rounds(self._federation.plan.layout.costs(workers=1).sums)
        self._instruments.steps.begin("Decrypting", rounds)
        ours, baseline = [], []
        for _ in range(rounds):
            ours.append(timed(self._instruments.clock, lambda: self._federation.decrypt(total)))
            baseline.append(self._baseline.decryption())
            self._instruments.steps.advance()
        seconds = min(round_.cpu_seconds for round_ in ours)
        return Decryption(ours[-1].result, seconds, baseline)


def decryption_rounds(ciphertexts: int) -> int:
    return max(1, min(DECRYPTION_ROUNDS, DECRYPTIONS_IN_ALL // ciphertexts))


def mean_cost(costs: list[ClientCost]) -> ClientCost:
    return ClientCost(
        offline=mean(cost.offline for cost in costs),
        online=mean(cost.online for cost in costs),
        validate=mean(cost.validate for cost in costs),
    )
