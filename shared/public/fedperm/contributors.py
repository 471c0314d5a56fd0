"""How few clients a sum may be of. Other clients see sums: each can subtract what is its own."""

__all__ = ["FEW_CONTRIBUTORS", "LEAST_CONTRIBUTORS", "contributors_warning"]

LEAST_CONTRIBUTORS = 3
"""In a sum of two, each of them subtracts its own update and reads the other's."""

FEW_CONTRIBUTORS = 5
"""Below this everybody is warned: all but one are few people, or one with several enrolments."""


def contributors_warning(contributors: int) -> str | None:
    """For whoever plans, shows or joins a run whose sums may be of so few clients."""
    if contributors >= FEW_CONTRIBUTORS:
        return None
    if contributors == 1:
        return "a sum may be of 1 client, and is its update"
    who = "each" if contributors == 2 else f"any {contributors - 1} together"
    return (
        f"a sum may be of {contributors} clients only: {who} can subtract what is their own, and "
        f"have the last one's update, in its order; let it be of {FEW_CONTRIBUTORS} or more"
    )
