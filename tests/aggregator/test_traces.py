"""Rounds as traces: spans with the times and outcomes that the events tell."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from fedperm.errors import SettingsError
from fedperm.wire.events import Event, EventKind, RoundAborted, RoundOpened
from fedperm_aggregator.__main__ import run
from fedperm_aggregator.records import RunEvent
from fedperm_aggregator.traces import Traces, exporting
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Bench, settings_in
from tests.aggregator.parties import Client, KeyServer
from tests.aggregator.process import running, until_open, until_published
from tests.aggregator.test_events import whole_run

pytestmark = pytest.mark.anyio

MOST_SECONDS = 30
"""From SIGTERM to the end of a process, on a busy machine."""


class Spans:
    """Everything that ended, told by a run's events."""

    def __init__(self, bench: Bench, skipped: int = 0) -> None:
        exporter = InMemorySpanExporter()
        traces = Traces(SimpleSpanProcessor(exporter))
        for event in bench.aggregator.events.of_run(bench.run, 0)[skipped:]:
            traces.observe(RunEvent(bench.run, event))
        traces.close()
        self.all = exporter.get_finished_spans()

    def of(self, number: int, name: str) -> list[ReadableSpan]:
        return [s for s in self.all if s.name == name and s.attributes["fedperm.round"] == number]


def seconds(span: ReadableSpan) -> float:
    return (span.end_time - span.start_time) / 1e9


async def test_a_published_round_is_a_trace_of_its_phases(opened: Bench, clients: list[Client]):
    opened.clock.advance(7)
    await opened.contribute(1, *clients)
    opened.clock.advance(2)
    await opened.aggregator.tick()
    spans = Spans(opened)
    (whole,), (collecting,), (folding,) = (
        spans.of(1, name) for name in ("round", "collect updates", "fold")
    )
    checks = spans.of(1, "check update")
    assert whole.parent is None
    assert whole.attributes["fedperm.run"] == opened.run
    assert whole.attributes["fedperm.outcome"] == "round-published"
    assert {span.context.trace_id for span in spans.all} == {whole.context.trace_id}
    assert {collecting.parent.span_id, folding.parent.span_id} == {whole.context.span_id}
    assert {check.parent.span_id for check in checks} == {collecting.context.span_id}
    assert (seconds(whole), seconds(collecting), seconds(folding)) == (9, 9, 0)
    states = {c.attributes["fedperm.client"]: c.attributes["fedperm.state"] for c in checks}
    assert (states, len(checks)) == (dict.fromkeys(("ada", "ben", "cleo"), "valid"), 3)
    assert {seconds(check) for check in checks} == {2}


async def test_an_aborted_round_is_an_error_with_its_reason(opened: Bench, clients: list[Client]):
    await whole_run(opened, clients)
    spans = Spans(opened)
    (whole,) = spans.of(2, "round")
    assert whole.status.status_code is StatusCode.ERROR
    assert whole.status.description
    assert spans.of(2, "fold") == []
    (check,) = spans.of(2, "check update")
    assert check.attributes["fedperm.state"] == "rejected"


async def test_a_round_whose_beginning_was_not_read_is_left_out(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    kinds = [event.event for event in opened.aggregator.events.of_run(opened.run, 0)]
    assert Spans(opened, skipped=kinds.index(EventKind.ROUND_OPENED) + 1).all == ()


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


def _round() -> Iterator[Event]:
    happened = [
        RoundOpened(epoch=1, selected=("ada",), deadline_at=60.0),
        RoundAborted(reason="too few", dropped=0),
    ]
    for number, details in enumerate(happened):
        yield Event(
            id=number, at=10.0 + number, event=details.event, round=1, client="", details=details
        )


def test_traces_go_to_the_collector_that_the_environment_names(monkeypatch: pytest.MonkeyPatch):
    with collector() as (address, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        traces = exporting()
        for event in _round():
            traces.observe(RunEvent("demo", event))
        traces.close()
    (request,) = received
    (resource,) = request.resource_spans
    named = {a.key: a.value.string_value for a in resource.resource.attributes}
    assert named["service.name"] == "fedperm-aggregator"
    (scope,) = resource.scope_spans
    assert {span.name for span in scope.spans} == {"round", "collect updates"}


def test_a_process_without_opentelemetry_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "fedperm_aggregator.traces", None)
    with pytest.raises(SettingsError, match="OpenTelemetry is not installed") as refusal:
        run(settings_in(folder, traces=True))
    assert "fedperm-aggregator[traces]" in refusal.value.hint


async def test_a_collector_that_is_away_holds_nobody_up(
    folder: Path, small_key: SecretKey, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    """Rounds go on, and the process ends at SIGTERM as without traces."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    async with running(folder, traces=True) as process:
        bench = Bench(process, KeyServer(process.clock, {1: small_key}), Random(3), clients)
        await bench.create(rounds={"count": 1})
        await bench.join(*clients)
        await until_open(bench, clients[0], settled=0)
        await bench.contribute(1, *clients)
        await until_published(bench, 1)
        start = time.monotonic()
        assert await process.end(signal.SIGTERM) == 0
        assert time.monotonic() - start < MOST_SECONDS
