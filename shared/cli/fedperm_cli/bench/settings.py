"""What to measure."""

from dataclasses import dataclass
from enum import StrEnum

from fedperm.errors import ParameterError
from fedperm.paillier import check_key_bits
from fedperm.planner import Plan, plan
from fedperm.windows import Geometry
from fedperm_cli.bench.paper import HEAVY, LIGHT


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


class ValueKind(StrEnum):
    """Which coded integers the clients hold; the edges find what random ones hide."""

    RANDOM = "random"
    ZEROS = "zeros"
    MAXIMUM = "maximum"


@dataclass(frozen=True)
class Settings:
    """One federation to measure."""

    geometry: Geometry
    clients: int
    key_bits: int
    laplace_scale: float
    value_bits: int | None
    processes: int
    values: ValueKind
    insecure_test_key: bool

    def __post_init__(self) -> None:
        check_key_bits(self.key_bits, insecure_for_tests=self.insecure_test_key)
        if self.processes < 1:
            raise ParameterError(
                f"{self.processes} worker processes", "choose at least 1, at most one per core"
            )

    def plan(self) -> Plan:
        geometry = self.geometry
        return plan(
            d=geometry.d,
            k1=geometry.k1,
            k2=geometry.k2,
            clients=self.clients,
            laplace_scale=self.laplace_scale,
            key_bits=self.key_bits,
            value_bits=self.value_bits,
        )


def geometry_of(preset: Preset, k1: int | None, k2: int | None, d: int | None) -> Geometry:
    """The preset's geometry where nothing else was asked for."""
    default = preset.geometry
    return Geometry(
        d=default.d if d is None else d,
        k1=default.k1 if k1 is None else k1,
        k2=default.k2 if k2 is None else k2,
    )
