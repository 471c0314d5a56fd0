"""The whole update as the protected unit: the rows that must stand beside the paper's."""

from dataclasses import dataclass

from fedperm.privacy.events import Rounds
from fedperm.privacy.renyi import laplace_epsilon


@dataclass(frozen=True)
class PureEpsilon:
    """Pure epsilon of a whole update, padding counted; it needs no shuffle and no delta."""

    per_round: float
    total: float


def whole_update_pure(rounds: Rounds) -> PureEpsilon:
    """d/b per round: every one of the padded d parameters may change by its whole range."""
    per_round = rounds.event.geometry.padded_d / rounds.event.laplace_scale
    return PureEpsilon(per_round, rounds.count * per_round)


def whole_update(rounds: Rounds, delta: float) -> float:
    """epsilon at delta: Laplace noise composed padded d * T times (or the pure sum, if smaller)."""
    count = rounds.event.geometry.padded_d * rounds.count
    return laplace_epsilon(rounds.event.laplace_scale, count, delta)
