"""How fast this machine is: the product's own functions on a small round, for a second or two."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from fedperm.planner import Plan, plan
from fedperm.schemes.paillier.aggregation import fold, rerandomise
from fedperm.schemes.paillier.fold_job import Work
from fedperm.schemes.paillier.multi_exponentiation import HALF_SIZE_COST, SPLIT_COST
from fedperm.workers import Workers
from fedperm_cli.bench.federation import Federation, KeyMaterial
from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.settings import ValueKind
from fedperm_secret.schemes.paillier.decryption import Decryptor
from fedperm_secret.schemes.paillier.fixed_base import SecretBlinding
from fedperm_secret.schemes.paillier.keys import SecretKey

ROUNDS = 3
"""Of which the median counts: other programs may run at the same time."""

_CLIENTS, _K1, _WINDOWS, _VALUE_BITS = 2, 160, 10, 8


@dataclass(frozen=True)
class Speed:
    """CPU seconds: `tables` once a key, `multiply` a multiplication modulo n^2 (`weight`), the
    others a ciphertext."""

    tables: float
    blind: float
    write: float
    validate: float
    multiply: float
    rerandomise: float
    decrypt: float


def measure_speed(key: SecretKey, instruments: Instruments) -> Speed:
    instruments.steps.begin("Measuring this machine", ROUNDS + 1)
    tables = timed(instruments.clock, lambda: SecretBlinding(key))
    instruments.steps.advance()
    material = KeyMaterial(key, tables.result, Decryptor(key))
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(_round(material, tables.cpu_seconds, instruments))
        instruments.steps.advance()
    return _median(rounds)


def weight(work: Work) -> float:
    """The multiplications of a fold, in full-size ones."""
    full_size = work.modmuls - work.half_size_modmuls
    return full_size + work.half_size_modmuls * HALF_SIZE_COST + work.split_bases * SPLIT_COST


def _round(material: KeyMaterial, tables: float, instruments: Instruments) -> Speed:
    small = _small_plan(material.key.public_key.key_bits)
    key, clock = material.key.public_key, instruments.clock
    with TemporaryDirectory(prefix="fedperm-plan-") as folder, ThreadPoolExecutor(1) as thread:
        federation = Federation(small, material, Path(folder), instruments)
        workers = Workers(thread, 1)
        uploads = [
            federation.upload(str(client), federation.draw_values(ValueKind.RANDOM))
            for client in range(_CLIENTS)
        ]
        total, work = fold([upload.update for upload in uploads], small, key, workers)
        _, blinding = rerandomise(total, key, instruments.randomness, workers)
    decrypted = timed(clock, lambda: federation.decrypt(total))
    masks, sums = small.mask_ciphertexts, small.aggregate_ciphertexts
    multiply = work.cpu_seconds / weight(work)
    online = median(upload.cost.online for upload in uploads)
    return Speed(
        tables=tables,
        blind=median(upload.cost.offline for upload in uploads) / masks,
        write=max(online - small.units * multiply, 0.0) / masks,
        validate=median(upload.cost.validate for upload in uploads) / masks,
        multiply=multiply,
        rerandomise=blinding.cpu_seconds / sums,
        decrypt=decrypted.cpu_seconds / sums,
    )


def _small_plan(key_bits: int) -> Plan:
    return plan(
        d=_K1 * _WINDOWS,
        k1=_K1,
        k2=1,
        clients=_CLIENTS,
        key_bits=key_bits,
        value_bits=_VALUE_BITS,
    )


def _median(rounds: Sequence[Speed]) -> Speed:
    return Speed(*(median(numbers) for numbers in zip(*map(astuple, rounds), strict=True)))
