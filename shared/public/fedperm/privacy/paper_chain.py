"""The paper's own chain: a blanket bound over k1, then composition over k2, then over T.

The composition theorems are those of Dwork, Rothblum, Vadhan (FOCS 2010), as the paper uses them:
t adaptive releases of (epsilon, delta) are (t epsilon, t delta)-DP and, for every delta' > 0, also
(strong(epsilon), t delta + delta')-DP (Dwork and Roth, "The Algorithmic Foundations of Differential
Privacy", 2014, Theorems 3.16 and 3.20).

Only for reproducing the paper: w = d/(k1 k2) is not rounded up, as printed there, so it is no bound
where d is not a multiple of k1 k2, and it takes the noise as continuous.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import expm1, log, sqrt

from fedperm.errors import PreconditionError
from fedperm.privacy.accountant import Guarantee, require_known, smallest
from fedperm.privacy.blanket import BlanketFacts
from fedperm.privacy.events import Rounds, ShuffledLaplace

Facts = Callable[[float, float], BlanketFacts]
Inequality = Callable[[BlanketFacts, float, int], float]


@dataclass(frozen=True)
class PaperAccountant:
    """Theorem 3 of the paper, with a numeric amplification bound in place of its O(.)."""

    name: str
    bound: str
    facts: Facts = field(repr=False)
    inequality: Inequality = field(repr=False)
    experimental: bool = field(default=False, init=False)
    published: bool = field(default=True, init=False)
    reproduction_only: bool = field(default=True, init=False)

    def guarantee(self, rounds: Rounds, delta: float) -> Guarantee:
        require_known(rounds, delta)
        over_rounds = Level(rounds.count, delta)
        over_patterns = Level(rounds.event.geometry.patterns, over_rounds.delta_each)
        _require_theorem_3(rounds.event, over_patterns)
        one_pattern = self._amplified(rounds.event, over_patterns.delta_each)
        epsilon = over_rounds.epsilon(over_patterns.epsilon(one_pattern))
        return Guarantee(epsilon, delta, self.name, self.bound)

    def _amplified(self, event: ShuffledLaplace, delta: float) -> float:
        """The smallest eps with delta(eps) <= delta; at most epsilon_w, which needs no shuffle."""
        epsilon_w, k1 = _unrounded_epsilon_w(event), event.geometry.k1

        def holds(epsilon: float) -> bool:
            return self.inequality(self.facts(epsilon, epsilon_w), epsilon, k1) <= delta

        return smallest(holds, epsilon_w * 1e-9, epsilon_w, tolerance=1e-9)


@dataclass(frozen=True)
class Level:
    """`times` releases in turn under one delta: half for the releases, half for delta'.

    One release is no composition: it keeps the whole delta.
    """

    times: int
    delta: float

    @property
    def delta_each(self) -> float:
        return self.delta if self.times == 1 else self.delta / (2 * self.times)

    def epsilon(self, each: float) -> float:
        """The smaller of naive and strong composition of releases of epsilon `each`."""
        return min(naive(each, self.times), strong(each, self.times, self.delta / 2))


def naive(epsilon: float, times: int) -> float:
    """The paper's Lemma "Naïve Composition"."""
    return times * epsilon


def strong(epsilon: float, times: int, delta_prime: float) -> float:
    """The paper's Lemma "Strong Composition": sqrt(2 t ln(1/delta')) eps + t eps (e^eps - 1)."""
    if epsilon > 1:
        return float("inf")  # naive composition is smaller, and e^eps may overflow
    return sqrt(2 * times * log(1 / delta_prime)) * epsilon + times * epsilon * expm1(epsilon)


def _unrounded_epsilon_w(event: ShuffledLaplace) -> float:
    geometry = event.geometry
    return geometry.d / (geometry.k1 * geometry.patterns) * event.epsilon_wd


def _require_theorem_3(event: ShuffledLaplace, patterns: Level) -> None:
    """epsilon_w <= log(k1 / log((k2 + 1)/delta_l)) / 2, as the theorem asks."""
    epsilon_w = _unrounded_epsilon_w(event)
    room = event.geometry.k1 / log((patterns.times + 1) / patterns.delta)
    most = log(room) / 2 if room > 1 else 0.0
    if epsilon_w > most:
        raise PreconditionError(
            f"the paper's theorem 3 needs epsilon_w <= {most:.4g}; it is {epsilon_w:.4g}",
            "add noise, shuffle more positions (k1), or choose another accountant",
        )
