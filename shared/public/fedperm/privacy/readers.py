"""Against whom a privacy guarantee holds: an epsilon without its reader means as little as one
without its unit."""

__all__ = ["EVERYBODY", "NOBODY", "OF_RECORDS", "THE_AGGREGATOR", "as_row"]

THE_AGGREGATOR = (
    "an aggregator that follows the protocol, is shown no sum, no model and nothing computed from "
    "them, and has no help from whoever holds the key; not against other clients, who see sums "
    "in their order"
)
"""Row 1 counts a view of shuffled values and of nothing else that depends on their order. A sum
does: with three uploads beside it, it gives their order away."""

EVERYBODY = (
    "everybody: the aggregator and all other clients together, with the secret key, and whoever "
    "sees sums or models"
)
"""What is counted is what the client sends, its order known; all else is computed from that."""

OF_RECORDS = (
    "everybody, as row 2, if nothing that is done to a record depends on other records (such as "
    "standardising by the client's own statistics); who has k records has rho k^2"
)
"""k records of one person move the update k times as far, and rho grows with the square."""

NOBODY = "nobody: there is no bound"


def as_row(number: int) -> str:
    return f"the same as row {number}"
