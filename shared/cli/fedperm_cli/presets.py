"""The configurations of the paper's evaluation: MNIST, softmax regression, 50 rounds."""

from enum import StrEnum

from fedperm.windows import Geometry

LIGHT = Geometry(d=7850, k1=400, k2=1)
HEAVY = Geometry(d=7850, k1=800, k2=10)

PAPER_ROUNDS = 50
PAPER_EPSILON = 4.0
PAPER_DELTA = 1e-5


class Preset(StrEnum):
    """The two configurations of the paper's evaluation."""

    LIGHT = "light"
    HEAVY = "heavy"

    @property
    def geometry(self) -> Geometry:
        return LIGHT if self is Preset.LIGHT else HEAVY

    @property
    def laplace_scale(self) -> float:
        """The paper's privacy chain at (4, 1e-5)."""
        return 50.95 if self is Preset.LIGHT else 17.38


def geometry_of(preset: Preset, k1: int | None, k2: int | None, d: int | None) -> Geometry:
    """The preset's geometry where nothing else was asked for."""
    default = preset.geometry
    return Geometry(
        d=default.d if d is None else d,
        k1=default.k1 if k1 is None else k1,
        k2=default.k2 if k2 is None else k2,
    )
