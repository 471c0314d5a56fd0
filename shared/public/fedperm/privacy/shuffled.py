"""Accountants that bound one pattern of one round and compose all T*k2 of them tightly."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isinf

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import PreconditionError
from fedperm.privacy.accountant import Guarantee, require_known
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.loss_distribution import composed_epsilon
from fedperm.privacy.profile import loss_grid, pure_profile
from fedperm.privacy.unshuffled import UnshuffledAccountant

Array = NDArray[np.float64]

# Beyond this epsilon_w no shuffle of fewer than e^24 positions helps, and e^epsilon_w is unwieldy:
# the permutation is then taken as known, which is a bound for every shuffle.
LARGEST_EPSILON_W = 24


@dataclass(frozen=True)
class ShuffledAccountant:
    """A bound of delta(eps) per pattern-round, composed T*k2 times."""

    name: str
    bound: str
    deltas: Callable[[ShuffledLaplace, Array], Array] = field(repr=False)
    experimental: bool = False

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        if rounds.event.epsilon_w > LARGEST_EPSILON_W:
            return replace(UnshuffledAccountant().guarantee(rounds, delta), accountant=self.name)
        epsilon = self._composed(rounds, delta)
        if isinf(epsilon):
            raise PreconditionError(
                f"delta {delta} is below what floating point can resolve over these rounds",
                "choose a larger delta",
            )
        return Guarantee(epsilon, delta, self.name, self.bound, self.experimental)

    def _composed(self, rounds: Rounds, delta: float) -> float:
        grid = loss_grid(rounds.event)
        deltas = self.deltas(rounds.event, grid.epsilons[:-1])
        times = rounds.event.geometry.patterns * rounds.count
        return composed_epsilon(pure_profile(grid, deltas), times, delta)
