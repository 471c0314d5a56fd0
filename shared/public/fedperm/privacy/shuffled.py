"""Accountants that bound one pattern of one round and compose all T*k2 of them tightly."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fedperm.privacy.accountant import Guarantee, require_known
from fedperm.privacy.events import Rounds, ShuffledLaplace
from fedperm.privacy.loss_distribution import composed_epsilon
from fedperm.privacy.profile import loss_grid, pure_profile
from fedperm.privacy.unshuffled import UnshuffledAccountant

Array = NDArray[np.float64]

# Beyond, no shuffle of fewer than e^24 positions helps; below, e^epsilon_w - 1 loses its digits.
# The permutation is then taken as known, which is a bound for every shuffle.
SMALLEST_EPSILON_W, LARGEST_EPSILON_W = 1e-6, 24


@dataclass(frozen=True)
class ShuffledAccountant:
    """A bound of delta(eps) per pattern-round, composed T*k2 times."""

    name: str
    bound: str
    deltas: Callable[[ShuffledLaplace, Array], Array] = field(repr=False)
    experimental: bool = False
    published: bool = True
    reproduction_only: bool = field(default=False, init=False)

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        if not SMALLEST_EPSILON_W <= rounds.event.epsilon_w <= LARGEST_EPSILON_W:
            known = UnshuffledAccountant().guarantee(rounds, delta)
            return replace(known, accountant=self.name, experimental=self.experimental)
        grid = loss_grid(rounds.event)
        deltas = self.deltas(rounds.event, grid.epsilons[:-1])
        times = rounds.event.geometry.patterns * rounds.count
        epsilon = composed_epsilon(pure_profile(grid, deltas), times, delta)
        return Guarantee(epsilon, delta, self.name, self.bound, self.experimental)
