"""Rényi accounting of unshuffled Laplace noise: dp_accounting's."""

from dp_accounting import LaplaceDpEvent  # type: ignore[import-untyped]
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped]


def laplace_epsilon(scale: float, count: int, delta: float) -> float:
    """epsilon of `count` Laplace releases (Mironov 2017, Proposition 6), or the pure sum."""
    accountant = RdpAccountant().compose(LaplaceDpEvent(scale), count)
    return min(float(accountant.get_epsilon(delta)), count / scale)
