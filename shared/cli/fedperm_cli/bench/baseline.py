"""python-paillier doing Algorithm 1 as written, operation by operation.

The whole algorithm would take hours, so each operation is measured and multiplied by the
paper's counts. Values are integers of B bits, the cheapest case for python-paillier: its
floating-point numbers take several times as long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import cycle, islice
from operator import add
from statistics import mean, median
from typing import Any

from fedperm_cli.bench.measurement import Instruments, timed
from fedperm_cli.bench.paper import PaperCounts
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.schemes.paillier.keys import SecretKey
from fedperm_secret.schemes.paillier.storage import secret_key_to_phe
from fedperm_secret.schemes.scheme import SecretKey as AnySecretKey

ENCRYPTIONS_PER_ROUND = 5
PRODUCTS_PER_ROUND = 500
DECRYPTIONS_PER_ROUND = 50
SAMPLE_CIPHERTEXTS = 10


@dataclass(frozen=True)
class OperationSeconds:
    """CPU seconds of one operation; a product is a multiplication and an addition."""

    encryption: float
    product: float
    decryption: float


@dataclass(frozen=True)
class BaselineSeconds:
    """CPU seconds that Algorithm 1 as written would take: a client, the server, a client."""

    encrypt: float
    aggregate: float
    decrypt: float


class PythonPaillier:
    """Each method is one round: the mean CPU seconds of one operation."""

    def __init__(self, key: AnySecretKey, value_bits: int, instruments: Instruments) -> None:
        if not isinstance(key, SecretKey):
            raise TypeError("python-paillier is compared with Paillier's scheme only")
        self._private: Any = secret_key_to_phe(key, SECRET_KEY_ACCESS)
        self._value_bits = value_bits
        self._instruments = instruments
        self._sample = [self._private.public_key.encrypt(i % 2) for i in range(SAMPLE_CIPHERTEXTS)]

    def encryption(self) -> float:
        encrypt = self._private.public_key.encrypt
        bits = [i % 2 for i in range(ENCRYPTIONS_PER_ROUND)]
        return self._seconds_each(lambda: [encrypt(bit) for bit in bits], len(bits))

    def product(self) -> float:
        draw = self._instruments.randomness.getrandbits
        pairs = [(c, draw(self._value_bits)) for c in self._ciphertexts(PRODUCTS_PER_ROUND)]
        return self._seconds_each(lambda: reduce(add, [c * v for c, v in pairs]), len(pairs))

    def decryption(self) -> float:
        ciphertexts = self._ciphertexts(DECRYPTIONS_PER_ROUND)
        decrypt = self._private.decrypt
        return self._seconds_each(lambda: [decrypt(c) for c in ciphertexts], len(ciphertexts))

    def _ciphertexts(self, count: int) -> list[Any]:
        return list(islice(cycle(self._sample), count))

    def _seconds_each(self, action: Callable[[], object], count: int) -> float:
        return timed(self._instruments.clock, action).cpu_seconds / count


def summarise(
    encryptions: Sequence[float], products: Sequence[float], decryptions: Sequence[float]
) -> OperationSeconds:
    """Rounds put together by the statistics that `experiment` uses for our own phases."""
    return OperationSeconds(mean(encryptions), median(products), min(decryptions))


def estimate(operations: OperationSeconds, counts: PaperCounts) -> BaselineSeconds:
    return BaselineSeconds(
        encrypt=operations.encryption * counts.encryptions_per_client,
        aggregate=operations.product * counts.products,
        decrypt=operations.decryption * counts.decryptions,
    )
