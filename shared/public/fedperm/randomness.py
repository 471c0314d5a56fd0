"""Where randomness comes from.

Everything that draws takes a `random.Random`: the product hands in the operating system's
generator, a test a seeded one. Nothing reads a global generator.
"""

from random import Random, SystemRandom


def from_operating_system() -> Random:
    """The only generator fit for secrets: it has no state, so forked processes cannot share it."""
    return SystemRandom()
