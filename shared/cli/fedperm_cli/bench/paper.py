"""What the paper prints about time: seconds on 64 CPUs, 2048-bit keys, d = 7850 unless said."""

from dataclasses import dataclass

from fedperm.windows import Geometry
from fedperm_cli.presets import HEAVY, LIGHT

PAPER_KEY_BITS = 2048
PAPER_CLIENTS = 15
PAPER_CPUS = 64


@dataclass(frozen=True)
class PaperSeconds:
    """One configuration of the paper's evaluation: a client, the server, a client."""

    encrypt: float
    aggregate: float
    decrypt: float


_PRINTED = {
    LIGHT: PaperSeconds(encrypt=52.2, aggregate=1_260, decrypt=2.4),
    HEAVY: PaperSeconds(encrypt=1_926, aggregate=59_040, decrypt=2.4),
}
"""Printed as 52.2 s, 21 min and 2.4 s; 32.1 min, 16.4 h and 2.4 s."""


def paper_seconds(geometry: Geometry, clients: int, key_bits: int) -> PaperSeconds | None:
    """What the paper prints for exactly this setting."""
    if (clients, key_bits) != (PAPER_CLIENTS, PAPER_KEY_BITS):
        return None
    return _PRINTED.get(geometry)


def times_per_core(paper_seconds: float, cpu_seconds: float) -> float:
    """How much faster a core is here, if all of the paper's CPUs were busy: at most so much."""
    return PAPER_CPUS * paper_seconds / cpu_seconds


@dataclass(frozen=True)
class PaperCounts:
    """Operations of Algorithm 1 as written, one ciphertext for every bit of a mask."""

    encryptions_per_client: int
    products: int
    """Multiplications by an integer, all clients together; each is followed by an addition."""
    decryptions: int


def paper_counts(geometry: Geometry, clients: int) -> PaperCounts:
    return PaperCounts(
        encryptions_per_client=geometry.k1 * geometry.k1 * geometry.k2,
        products=clients * geometry.d * geometry.k1,
        decryptions=geometry.d,
    )
