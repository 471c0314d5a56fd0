"""The points of the paper's timing figures that its text prints as numbers."""

from dataclasses import dataclass
from enum import StrEnum

from fedperm_cli.bench.sweep import Axis


class Phase(StrEnum):
    ENCRYPT = "encrypt"
    AGGREGATE = "aggregate"
    DECRYPT = "decrypt"


@dataclass(frozen=True)
class PaperPoint:
    axis: Axis
    phase: Phase
    position: int
    seconds: float


PRINTED_POINTS = (
    PaperPoint(Axis.K1, Phase.ENCRYPT, 100, 3.4),
    PaperPoint(Axis.K1, Phase.ENCRYPT, 200, 13.1),
    PaperPoint(Axis.K2, Phase.ENCRYPT, 1, 3.4),
    PaperPoint(Axis.K2, Phase.ENCRYPT, 10, 32.7),
    PaperPoint(Axis.D, Phase.DECRYPT, 100_000, 1.01),
    PaperPoint(Axis.D, Phase.DECRYPT, 1_000_000, 9.91),
    PaperPoint(Axis.CLIENTS, Phase.AGGREGATE, 5, 157.47),
    PaperPoint(Axis.CLIENTS, Phase.AGGREGATE, 10, 326.72),
)
"""Section "Time Analysis": k1 = 100, k2 = 1, d = 7850 where the axis does not say otherwise."""
