"""How long the phases of a round took."""

from dataclasses import dataclass
from statistics import fmean

from fedperm.wire.aggregator import ClientSeconds, RoundReport


@dataclass(frozen=True)
class PhaseSeconds:
    """On the wall: the mean of the clients that reported, and the aggregator's two phases."""

    train: float
    randomize: float
    encrypt: float
    upload: float
    decrypt: float
    open: float
    fold: float


def phase_seconds(report: RoundReport) -> PhaseSeconds:
    clients = [named.report.seconds for named in report.reports]
    phases = {
        phase: fmean(getattr(client, phase) for client in clients) if clients else 0.0
        for phase in ClientSeconds.model_fields
    }
    return PhaseSeconds(**phases, open=report.seconds.open, fold=report.seconds.fold)
