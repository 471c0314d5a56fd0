"""All measurements of the results, those of other packages among them."""

from collections.abc import Sequence

from experiments.accuracy import measured as accuracy
from experiments.paper.measurement import Measurement
from experiments.robustness import measured as robustness


def measurements(*, quick: bool) -> Sequence[Measurement]:
    return [
        measurement
        for part in (accuracy, robustness)
        for measurement in part.measurements(quick=quick)
    ]
