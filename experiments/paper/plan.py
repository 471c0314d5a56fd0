"""All measurements of the results, those of other packages among them."""

from collections.abc import Sequence

from experiments.accuracy import measured as accuracy
from experiments.encrypted import measured as encrypted
from experiments.paper.measurement import Measurement
from experiments.robustness import measured as robustness
from experiments.timing import measured as timing

PARTS = {
    "accuracy": accuracy,
    "robustness": robustness,
    "encrypted": encrypted,
    "timing": timing,
}


def measurements(*, quick: bool, only: Sequence[str] | None = None) -> Sequence[Measurement]:
    """Of all parts, or of those that are named: planning some of them takes a while."""
    wanted = PARTS if only is None else only
    return [
        measurement
        for name, part in PARTS.items()
        if name in wanted
        for measurement in part.measurements(quick=quick)
    ]
