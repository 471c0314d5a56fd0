"""What to measure."""

from dataclasses import dataclass
from enum import StrEnum

from fedperm.errors import ParameterError
from fedperm.planner import Plan, plan
from fedperm.schemes.registry import default_scheme
from fedperm.schemes.scheme import Scheme
from fedperm.windows import Geometry


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
        _ = self.scheme
        if self.processes < 1:
            raise ParameterError(
                f"{self.processes} worker processes", "choose at least 1, at most one per core"
            )

    @property
    def scheme(self) -> Scheme:
        return default_scheme(self.key_bits, insecure_for_tests=self.insecure_test_key)

    def plan(self) -> Plan:
        geometry = self.geometry
        return plan(
            d=geometry.d,
            k1=geometry.k1,
            k2=geometry.k2,
            clients=self.clients,
            laplace_scale=self.laplace_scale,
            scheme=self.scheme,
            value_bits=self.value_bits,
        )
