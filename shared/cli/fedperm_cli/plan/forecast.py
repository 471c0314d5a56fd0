"""What a round will cost, from the counts of a plan and the speed of a machine."""

from dataclasses import dataclass

from fedperm.aggregate import aggregate_body
from fedperm.planner import Plan
from fedperm.schemes.scheme import Costs
from fedperm.uploads.masks import MASKS
from fedperm.wire.body import Body
from fedperm_cli.plan.speed import Speed

CLIENT_PROCESS_BYTES = 340 << 20
AGGREGATOR_PROCESS_BYTES = 100 << 20
WORKER_PROCESS_BYTES = 40 << 20
"""What the programs take before they hold anything: Python and its libraries, torch at a client."""


@dataclass(frozen=True)
class Counts:
    """Numbers of ciphertexts, and of multiplications in the fold of all clients."""

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


def forecast(plan: Plan, speed: Speed, processes: int) -> Forecast:
    """For a round in which all clients take part."""
    costs = plan.layout.costs(processes)
    return Forecast(
        _counts(costs), _bytes(plan, costs, processes), _seconds(plan.layout.clients, costs, speed)
    )


def _counts(costs: Costs) -> Counts:
    return Counts(
        client_encrypts=costs.ciphertexts,
        client_decrypts=costs.sums,
        aggregator_publishes=costs.sums,
        fold_multiplications=costs.fold["modmuls"],
    )


def _bytes(plan: Plan, costs: Costs, processes: int) -> Bytes:
    upload, download = upload_size(plan), aggregate_body(plan).size
    received = plan.layout.clients * upload
    return Bytes(
        upload=upload,
        download=download,
        aggregator_receives=received,
        aggregator_disk=received + download,
        client_memory=client_memory(plan),
        aggregator_memory=AGGREGATOR_PROCESS_BYTES
        + plan.layout.clients * plan.geometry.padded_d * plan.fixed_point.dtype.itemsize
        + processes * (WORKER_PROCESS_BYTES + costs.worker_octets),
    )


def upload_size(plan: Plan) -> int:
    return Body(MASKS.tensors(plan)).size


def client_memory(plan: Plan) -> int:
    """The program, what its keys take, the upload as numbers and as octets, and the model."""
    held = plan.layout.costs(workers=1).client_octets
    return CLIENT_PROCESS_BYTES + held + 2 * upload_size(plan) + 8 * 4 * plan.geometry.padded_d


def _seconds(clients: int, costs: Costs, speed: Speed) -> Seconds:
    masks, sums = costs.ciphertexts, costs.sums
    return Seconds(
        client_tables_once=speed.tables,
        client_encrypt_ahead=masks * speed.blind,
        client_encrypt=masks * speed.write + costs.units * speed.multiply,
        client_decrypt=sums * speed.decrypt,
        aggregator_validate=clients * masks * speed.validate,
        aggregator_fold=costs.fold_weight * speed.multiply,
        aggregator_rerandomise=sums * speed.rerandomise,
    )
