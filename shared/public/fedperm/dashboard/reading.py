"""What clients measured of the model after a round, as far as it can be read here.

Clients seal it to the run's operator. The aggregator's own page reads what came in the clear; the
page on the operator's machine is handed a `Reading` that has the operator's key.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundReport


@dataclass(frozen=True)
class ReadRound:
    """A round in whose reports stands what could be opened. So many are `broken`: they do not open
    with the key that they are said to be sealed to."""

    report: RoundReport
    broken: int = 0


Reading = Callable[[FrozenDocument, RoundReport], ReadRound]
"""Of a round of the run with this document."""


def without_a_key(_document: FrozenDocument, report: RoundReport) -> ReadRound:
    """As the aggregator reads it."""
    return ReadRound(report)
