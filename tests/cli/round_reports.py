"""Round reports as an aggregator gives them, made by hand."""

from collections.abc import Sequence

from fedperm.wire.aggregator import (
    AggregateReference,
    AggregatorSeconds,
    ClientReport,
    ClientSeconds,
    Measured,
    NamedReport,
    RoundOutcome,
    RoundReport,
    RoundState,
    SubmissionReport,
    SubmissionState,
    TestMetrics,
)
from fedperm.wire.statements import UPDATE_KIND


def round_report(number: int, accuracies: Sequence[float | None]) -> RoundReport:
    """One client an accuracy; None tests nothing. The last one's norm was bounded."""
    clients = tuple(f"c{index}" for index in range(len(accuracies)))
    return RoundReport(
        phase="",
        collects="",
        asked=(),
        outcome=RoundOutcome(
            round=number,
            state=RoundState.PUBLISHED,
            epoch=1,
            selected=clients,
            included=clients,
            aggregate=AggregateReference(sha256="0" * 64, size=1, contributors=len(clients)),
            reason="",
        ),
        opened_at=100.0,
        deadline_at=200.0,
        extensions=0,
        sealed_at=102.0,
        settled_at=103.5,
        submissions=tuple(_update(client, bounded=client == clients[-1]) for client in clients),
        reports=tuple(
            NamedReport(client=client, report=_report(index, accuracy))
            for index, (client, accuracy) in enumerate(zip(clients, accuracies, strict=True))
        ),
        seconds=AggregatorSeconds(
            open=2.0, fold=1.5, validation_cpu=0.1, folding_cpu=1.0, rerandomising_cpu=0.2
        ),
    )


def _update(client: str, *, bounded: bool) -> SubmissionReport:
    return SubmissionReport(
        kind=UPDATE_KIND,
        client=client,
        state=SubmissionState.INCLUDED,
        reason="",
        size=1000,
        received_at=101.0,
        norm_before=9.0,
        norm_after=8.0 if bounded else 9.0,
        bounded=bounded,
    )


def _report(index: int, accuracy: float | None) -> ClientReport:
    """Phases of 1, 2, 3, ... seconds, once more for each client."""
    names = tuple(ClientSeconds.model_fields)
    seconds = {name: float((index + 1) * (place + 1)) for place, name in enumerate(names)}
    return ClientReport(
        seconds=ClientSeconds(**seconds),
        bytes_up=1000,
        bytes_down=10,
        measured=Measured(
            test=None if accuracy is None else TestMetrics(accuracy=accuracy, loss=0.5)
        ),
    )
