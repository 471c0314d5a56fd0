"""What a round will cost, from the counts of a plan and the speed of a machine."""

from collections import Counter
from dataclasses import dataclass

from fedperm.planner import Plan
from fedperm.schemes.paillier.aggregation import cuts_of
from fedperm.schemes.paillier.fold_job import BASES_AT_ONCE, Work
from fedperm.schemes.paillier.multi_exponentiation import (
    best_bucket_bits,
    bucket_bytes,
    chunk_count,
    multiplications,
    splitting_pays,
)
from fedperm.schemes.paillier.public_key import PublicKey
from fedperm.wire.aggregate import aggregate_body
from fedperm.wire.update import update_body
from fedperm_cli.plan.speed import Speed, weight

CLIENT_PROCESS_BYTES = 340 << 20
AGGREGATOR_PROCESS_BYTES = 100 << 20
WORKER_PROCESS_BYTES = 40 << 20
"""What the programs take before they hold anything: Python and its libraries, torch at a client."""

_TABLE_ENTRIES = 256
_OBJECT_BYTES = 56
"""Of a Python number beside its digits."""


@dataclass(frozen=True)
class Counts:
    """Numbers of ciphertexts, and of multiplications modulo n^2 in the fold of all clients."""

    client_encrypts: int
    client_decrypts: int
    aggregator_publishes: int
    fold_multiplications: int


@dataclass(frozen=True)
class Bytes:
    """`upload` and `download` are bodies of one client in one round, to the byte."""

    upload: int
    download: int
    aggregator_receives: int
    aggregator_disk: int
    client_memory: int
    aggregator_memory: int


@dataclass(frozen=True)
class Seconds:
    """CPU seconds on one core of this machine; `client_encrypt_ahead` is work that needs no data
    and is done while a client waits. `aggregator_validate` is for all uploads."""

    client_tables_once: float
    client_encrypt_ahead: float
    client_encrypt: float
    client_decrypt: float
    aggregator_validate: float
    aggregator_fold: float
    aggregator_rerandomise: float

    @property
    def client(self) -> float:
        return self.client_encrypt_ahead + self.client_encrypt + self.client_decrypt

    @property
    def aggregator(self) -> float:
        return self.aggregator_validate + self.aggregator_fold + self.aggregator_rerandomise

    def of_everybody(self, clients: int) -> float:
        return clients * self.client + self.aggregator


@dataclass(frozen=True)
class Forecast:
    counts: Counts
    bytes: Bytes
    seconds: Seconds


def forecast(plan: Plan, key: PublicKey, speed: Speed, processes: int) -> Forecast:
    """For a round in which all clients take part."""
    work = fold_work(plan, processes)
    return Forecast(_counts(plan, work), _bytes(plan, key, processes), _seconds(plan, speed, work))


def fold_work(plan: Plan, processes: int) -> Work:
    """The multiplications of one fold of all clients, as its jobs will be cut."""
    bases = plan.packing.clients * plan.geometry.k1
    lengths = Counter(len(cut.windows) for cut in cuts_of(plan, plan.packing.clients, processes))
    total = Work()
    for length, jobs in lengths.items():
        bits = length * plan.packing.value_bits
        width = best_bucket_bits(bases, bits)
        into_buckets, others = multiplications(bases, bits, width)
        splits = splitting_pays(chunk_count(bits, width))
        total += Work(
            modmuls=jobs * (into_buckets + others),
            half_size_modmuls=jobs * into_buckets if splits else 0,
            split_bases=jobs * bases if splits else 0,
        )
    return total


def _counts(plan: Plan, work: Work) -> Counts:
    return Counts(
        client_encrypts=plan.mask_ciphertexts,
        client_decrypts=plan.aggregate_ciphertexts,
        aggregator_publishes=plan.aggregate_ciphertexts,
        fold_multiplications=work.modmuls,
    )


def _bytes(plan: Plan, key: PublicKey, processes: int) -> Bytes:
    upload, download = update_body(plan, key).size, aggregate_body(plan, key).size
    received = plan.packing.clients * upload
    return Bytes(
        upload=upload,
        download=download,
        aggregator_receives=received,
        aggregator_disk=received + download,
        client_memory=CLIENT_PROCESS_BYTES + client_holds(plan, key, upload),
        aggregator_memory=AGGREGATOR_PROCESS_BYTES
        + plan.packing.clients * plan.geometry.padded_d * plan.fixed_point.dtype.itemsize
        + processes * (WORKER_PROCESS_BYTES + _worker_holds(plan, key, processes)),
    )


def client_holds(plan: Plan, key: PublicKey, upload: int) -> int:
    """Tables for p and q, a pool of factors, the upload as numbers and as octets, the model."""
    prime_bytes = key.key_bytes // 2
    table = prime_bytes * _TABLE_ENTRIES * (2 * prime_bytes + 2 * _OBJECT_BYTES)
    pool = plan.mask_ciphertexts * (key.ciphertext_bytes + _OBJECT_BYTES)
    return 2 * table + pool + 2 * upload + 8 * 4 * plan.geometry.padded_d


def _worker_holds(plan: Plan, key: PublicKey, processes: int) -> int:
    clients, packing = plan.packing.clients, plan.packing
    bases = clients * plan.geometry.k1
    longest = max(len(cut.windows) for cut in cuts_of(plan, clients, processes))
    buckets = bucket_bytes(bases, longest * packing.value_bits, packing.key_bits)
    block = BASES_AT_ONCE * 3 * (key.ciphertext_bytes + _OBJECT_BYTES)
    return buckets + block


def _seconds(plan: Plan, speed: Speed, work: Work) -> Seconds:
    masks, sums = plan.mask_ciphertexts, plan.aggregate_ciphertexts
    return Seconds(
        client_tables_once=speed.tables,
        client_encrypt_ahead=masks * speed.blind,
        client_encrypt=masks * speed.write + plan.units * speed.multiply,
        client_decrypt=sums * speed.decrypt,
        aggregator_validate=plan.packing.clients * masks * speed.validate,
        aggregator_fold=weight(work) * speed.multiply,
        aggregator_rerandomise=sums * speed.rerandomise,
    )
