"""Rounds as OpenTelemetry traces: a span for each round, below it collecting, checking, folding.

Made from the events when a round is settled, with the times that they tell. A round that was open
when the process started is left out: its beginning is not among what is read.
"""

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, Status, StatusCode, set_span_in_context

import fedperm
from fedperm.ids import RoundNumber, RunName
from fedperm.services import AGGREGATOR
from fedperm.wire.events import Event, EventKind, RoundAborted, SubmissionChecked, SubmissionStored
from fedperm_aggregator.records import RunEvent

_SETTLED = {EventKind.ROUND_PUBLISHED, EventKind.ROUND_ABORTED}
_KEPT = _SETTLED | {
    EventKind.ROUND_OPENED,
    EventKind.ROUND_SEALED,
    EventKind.SUBMISSION_STORED,
    EventKind.SUBMISSION_CHECKED,
}

About = dict[str, str | int]
"""What a span says of itself."""

SEND_SECONDS = 2.0
"""A collector that is away is tried so long; so much longer a server takes to end."""


def exporting() -> "Traces":
    """To the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, in the background."""
    return Traces(BatchSpanProcessor(OTLPSpanExporter(timeout=SEND_SECONDS)))


class Traces:
    def __init__(self, processor: SpanProcessor) -> None:
        names = {SERVICE_NAME: AGGREGATOR.distribution, "service.version": fedperm.__version__}
        self._provider = TracerProvider(resource=Resource.create(names), shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(AGGREGATOR.module)
        self._open: dict[tuple[RunName, RoundNumber], list[Event]] = {}

    def observe(self, run_event: RunEvent) -> None:
        event, place = run_event.event, (run_event.run, run_event.event.round)
        if event.event == EventKind.ROUND_OPENED:
            self._open[place] = []
        if event.event not in _KEPT or place not in self._open:
            return
        self._open[place].append(event)
        if event.event in _SETTLED:
            self._tell(run_event.run, self._open.pop(place))

    def close(self) -> None:
        """What is left is sent, if anybody takes it."""
        self._provider.shutdown()

    def _tell(self, run: RunName, events: Sequence[Event]) -> None:
        opened, settled = events[0], events[-1]
        sealed = [event for event in events if event.event == EventKind.ROUND_SEALED]
        closed = sealed[0] if sealed else settled
        about: About = {"fedperm.run": run, "fedperm.round": opened.round}
        whole = self._span("round", None, opened, {**about, "fedperm.outcome": settled.event})
        if isinstance(settled.details, RoundAborted):
            whole.set_status(Status(StatusCode.ERROR, settled.details.reason))
        collecting = self._span("collect updates", whole, opened, about)
        self._updates(collecting, events, about)
        _end(collecting, closed)
        if sealed:
            _end(self._span("fold", whole, closed, about), settled)
        _end(whole, settled)

    def _updates(self, collecting: Span, events: Sequence[Event], about: About) -> None:
        """From stored to checked; one that never was checked has no span."""
        stored = {
            (event.details.kind, event.client): event
            for event in events
            if isinstance(event.details, SubmissionStored)
        }
        for checked in events:
            if isinstance(checked.details, SubmissionChecked):
                kind, state = checked.details.kind, checked.details.state
                first = stored.get((kind, checked.client), checked)
                who = {"fedperm.client": checked.client, "fedperm.state": state}
                _end(self._span(f"check {kind}", collecting, first, {**about, **who}), checked)

    def _span(self, name: str, parent: Span | None, start: Event, about: About) -> Span:
        context = None if parent is None else set_span_in_context(parent)
        return self._tracer.start_span(name, context, attributes=about, start_time=_time(start))


def _end(span: Span, event: Event) -> None:
    span.end(_time(event))


def _time(event: Event) -> int:
    return round(event.at * 1e9)
