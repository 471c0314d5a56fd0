"""The same protected unit with the permutation known: no amplification at all."""

from dataclasses import dataclass, field

from fedperm.privacy.accountant import Guarantee, require_known
from fedperm.privacy.events import Rounds
from fedperm.privacy.renyi import laplace_epsilon


@dataclass(frozen=True)
class UnshuffledAccountant:
    """Laplace noise on the k2 w parameters of one superwindow per pattern, T times."""

    name: str = field(default="no-shuffle-rdp", init=False)
    bound: str = field(
        default="no amplification: Rényi composition of Laplace noise over k2*w*T parameters "
        "(Mironov 2017), or k2*w*T/b if that is smaller",
        init=False,
    )
    experimental: bool = field(default=False, init=False)
    published: bool = field(default=True, init=False)
    reproduction_only: bool = field(default=False, init=False)

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        event = rounds.event
        count = event.geometry.patterns * event.geometry.superwindow * rounds.count
        epsilon = laplace_epsilon(event.laplace_scale, count, delta)
        return Guarantee(epsilon, delta, self.name, self.bound)
