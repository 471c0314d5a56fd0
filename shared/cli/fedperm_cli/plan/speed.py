"""How fast this machine is: the product's own functions on a small round, for a second or two."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from fedperm.planner import Plan, plan
from fedperm.schemes.scheme import Scheme
from fedperm.workers import Workers
from fedperm_cli.bench.federation import Federation, KeyMaterial, material_of
from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.settings import ValueKind
from fedperm_secret.schemes.registry import SECRET_SCHEMES

ROUNDS = 3
"""Of which the median counts: other programs may run at the same time."""

_CLIENTS, _K1, _WINDOWS, _VALUE_BITS = 2, 160, 10, 8


@dataclass(frozen=True)
class Speed:
    """CPU seconds: `tables` once a key, `multiply` the scheme's unit of work (`Layout.weight`), the
    others a ciphertext."""

    tables: float
    blind: float
    write: float
    validate: float
    multiply: float
    rerandomise: float
    decrypt: float


def measure_speed(scheme: Scheme, instruments: Instruments) -> Speed:
    """With a key that is made for measuring: to draw a long one takes longer than this."""
    instruments.steps.begin("Measuring this machine", ROUNDS + 1)
    small = _small_plan(scheme)
    key = SECRET_SCHEMES[scheme.name].measuring_key(scheme, instruments.randomness)
    material = material_of(key, small)
    tables = timed(instruments.clock, material.half.warm_up)
    instruments.steps.advance()
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(_round(small, material, tables.cpu_seconds, instruments))
        instruments.steps.advance()
    return _median(rounds)


def _round(small: Plan, material: KeyMaterial, tables: float, instruments: Instruments) -> Speed:
    with TemporaryDirectory(prefix="fedperm-plan-") as folder, ThreadPoolExecutor(1) as thread:
        federation = Federation(small, material, Path(folder), instruments)
        workers = Workers(thread, 1)
        uploads = [
            federation.upload(str(client), federation.draw_values(ValueKind.RANDOM))
            for client in range(_CLIENTS)
        ]
        # the jobs' own count: the thread's clock is that of the whole process
        fold = federation.fold(uploads, workers)
        _, blinding = federation.rerandomise(fold.total, workers)
    decrypted = timed(instruments.clock, lambda: federation.decrypt(fold.total))
    costs = small.layout.costs(workers=1)
    multiply = fold.jobs_cpu_seconds / small.layout.weight(fold.work.counts)
    online = median(upload.cost.online for upload in uploads)
    return Speed(
        tables=tables,
        blind=median(upload.cost.offline for upload in uploads) / costs.ciphertexts,
        write=max(online - costs.units * multiply, 0.0) / costs.ciphertexts,
        validate=median(upload.cost.validate for upload in uploads) / costs.ciphertexts,
        multiply=multiply,
        rerandomise=blinding.cpu_seconds / costs.sums,
        decrypt=decrypted.cpu_seconds / costs.sums,
    )


def _small_plan(scheme: Scheme) -> Plan:
    return plan(
        d=_K1 * _WINDOWS, k1=_K1, k2=1, clients=_CLIENTS, scheme=scheme, value_bits=_VALUE_BITS
    )


def _median(rounds: Sequence[Speed]) -> Speed:
    return Speed(*(median(numbers) for numbers in zip(*map(astuple, rounds), strict=True)))
