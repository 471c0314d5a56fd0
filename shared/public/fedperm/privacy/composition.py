"""The composition theorems of Dwork, Rothblum, Vadhan (2010), as the paper uses them."""

from dataclasses import dataclass
from math import expm1, log, sqrt


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
