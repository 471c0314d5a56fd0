"""Which clients a round asks: a uniform draw among those that are online."""

from collections.abc import Sequence
from random import Random


def select(online: Sequence[str], count: int, randomness: Random) -> tuple[str, ...]:
    """`count` of them, all if there are fewer; in the order of their names, which says nothing
    about the draw."""
    ordered = sorted(set(online))
    return tuple(sorted(randomness.sample(ordered, min(count, len(ordered)))))
