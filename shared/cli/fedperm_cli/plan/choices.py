"""Other cuts of the same model: what each costs, and how much noise it needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fedperm.windows import Geometry

K1_CHOICES = (25, 50, 100, 200, 400, 800, 1600)
K2_CHOICES = (1, 3, 10)

ENOUGH = 1.5
"""Noise up to so many times the least is taken for the sake of a lower cost."""

_ALIKE = 0.99
"""Times are measured, and noise is found by search: smaller differences are none."""


@dataclass(frozen=True)
class Choice:
    """`parameters` is the size of the paper's unit: the epsilons of two choices protect different
    numbers of parameters. Without noise both noise and epsilon are None. CPU seconds are those of
    all parties in a round, `upload` a client's octets."""

    k1: int
    k2: int
    parameters: int
    laplace_scale: float | None
    epsilon: float | None
    cpu_seconds: float
    upload: int
    best: bool = False

    @property
    def objectives(self) -> tuple[float, float, float]:
        """The less the better."""
        return self.laplace_scale or 0.0, self.epsilon or 0.0, self.cpu_seconds


def geometries(d: int, wanted: Geometry | None) -> list[Geometry]:
    """A grid of cuts, with the wanted one among them."""
    found = {(geometry.k1, geometry.k2) for geometry in _grid(d)}
    if wanted is not None:
        found.add((wanted.k1, wanted.k2))
    return [Geometry(d, k1, k2) for k1, k2 in sorted(found)]


def marked(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """The Pareto-best are those than which no other is better in one thing and worse in none."""
    return tuple(
        replace(choice, best=not any(_beats(other, choice) for other in choices))
        for choice in choices
    )


def suggested(choices: Sequence[Choice]) -> Choice:
    """The cheapest of those with little noise."""
    noises = [choice.objectives[:2] for choice in choices]
    most = [ENOUGH * min(noise) for noise in zip(*noises, strict=True)]
    good = [
        choice
        for choice in choices
        if all(noise <= limit for noise, limit in zip(choice.objectives, most, strict=False))
    ]
    return min(good or choices, key=lambda choice: choice.cpu_seconds)


def _grid(d: int) -> Iterator[Geometry]:
    for k1 in _windows(d):
        for k2 in K2_CHOICES:
            geometry = Geometry(d, k1, k2)
            if k2 <= geometry.windows:
                yield geometry


def _windows(d: int) -> list[int]:
    """Those that are smaller than the model; then the whole of it, and one that is padded: a larger
    crowd needs less noise."""
    smaller = [k1 for k1 in K1_CHOICES if k1 < d]
    larger = [k1 for k1 in K1_CHOICES if k1 > d]
    return [*smaller, d, larger[0]] if larger else smaller


def _beats(one: Choice, other: Choice) -> bool:
    pairs = list(zip(one.objectives, other.objectives, strict=True))
    return all(_ALIKE * a <= b for a, b in pairs) and any(a < _ALIKE * b for a, b in pairs)
