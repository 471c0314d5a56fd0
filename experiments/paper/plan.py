"""All measurements of the results, those of other packages among them."""

from collections.abc import Sequence

from experiments.accuracy import measured as accuracy
from experiments.encrypted import measured as encrypted
from experiments.paper.measurement import Measurement
from experiments.robustness import measured as robustness
from experiments.timing import measured as timing


def measurements(*, quick: bool) -> Sequence[Measurement]:
    return [
        measurement
        for part in (accuracy, robustness, encrypted, timing)
        for measurement in part.measurements(quick=quick)
    ]
