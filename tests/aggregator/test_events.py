"""What happened, in order, and again after a lost connection."""

import re
from pathlib import Path

import pytest
from gmpy2 import mpz

from fedperm.wire.aggregator import Event, EventKind
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.test_reports import REPORT
from tests.aggregator.test_validation import with_ciphertext

pytestmark = pytest.mark.anyio

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"


async def stream(bench: Bench, after: int = 0) -> list[Event]:
    """All that is there: a stream of an aggregator that is stopping ends after it."""
    bench.aggregator.services.changes.close()
    return [event async for event in bench.api.events(bench.run, OPERATOR, after)]


async def whole_run(bench: Bench, clients: list[Client]) -> None:
    """Two rounds: one published, one extended and aborted, with everything in between."""
    await bench.contribute(1, *clients)
    await bench.aggregator.tick()
    await bench.api.report(bench.run, 1, "ada", REPORT, bench.server.token(clients[0]))
    await bench.upload(clients[0], 2, _poisoned(bench, clients[0]))
    await bench.aggregator.tick()
    await bench.api.exclude(bench.run, "ada", OPERATOR)
    await bench.api.stop(bench.run, OPERATOR)
    await bench.api.resume(bench.run, OPERATOR)
    for seconds in (60, 20):
        bench.clock.advance(seconds)
        await bench.aggregator.tick()


def _poisoned(bench: Bench, client: Client):
    bad = with_ciphertext(bench, client, mpz(0), place=0)
    manifest = client.manifest(bench.document, 2, 1, bad.body)
    return type(bad)(bad.body, manifest, bad.coded, bad.shuffled)


async def test_a_run_tells_its_story(opened: Bench, clients: list[Client]):
    await whole_run(opened, clients)
    events = await stream(opened)
    checks = ["update-checked"] * 3
    assert [e.event for e in events] == [
        "run-created",
        "initial-model",
        "key-epoch",
        *["participant-joined"] * 3,
        "round-opened",
        *["update-stored"] * 3,
        *checks,
        "round-sealed",
        "round-published",
        "round-opened",
        "client-report",
        "update-stored",
        "update-checked",
        "participant-excluded",
        "run-stopped",
        "run-resumed",
        "round-extended",
        "round-aborted",
        "run-completed",
    ]
    ids = [event.id for event in events]
    assert ids == sorted(set(ids))
    rejected = [e for e in events if e.event == EventKind.UPDATE_CHECKED][-1]
    assert (rejected.round, rejected.client) == (2, "ada")
    assert rejected.details["state"] == "rejected"


async def test_a_reader_goes_on_where_it_was(opened: Bench, clients: list[Client]):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    everything = await stream(opened)
    for seen in (0, 4, len(everything) - 1, len(everything)):
        after = everything[seen - 1].id if seen else 0
        assert await stream(opened, after) == everything[seen:]


async def test_events_of_other_runs_are_not_shown(bench: Bench):
    for run in ("one", "two"):
        await bench.create(run=run)
    assert {event.event for event in await stream(bench)} == {
        "run-created",
        "initial-model",
        "key-epoch",
    }
    assert len(await stream(bench)) == 3


async def test_the_stream_has_the_form_of_server_sent_events(bench: Bench):
    await bench.create(epochs=0)
    bench.aggregator.services.changes.close()
    response = await bench.aggregator.http.get(
        "/v1/runs/digits/events", headers={"Authorization": f"Bearer {OPERATOR}"}
    )
    assert response.headers["Content-Type"].startswith("text/event-stream")
    comment, first, second, rest = response.text.split("\n\n")
    assert comment.startswith(":")
    assert re.fullmatch(r"id: \d+\nevent: run-created\ndata: \{.*\}", first)
    assert "event: initial-model" in second
    assert rest == ""


async def test_a_senseless_position_is_refused(bench: Bench):
    await bench.create()
    for position in ("x", "-1", str(1 << 63), "9" * 30):
        response = await bench.aggregator.http.get(
            "/v1/runs/digits/events",
            headers={"Authorization": f"Bearer {OPERATOR}", "Last-Event-ID": position},
        )
        assert response.status_code == 422


async def test_a_position_beyond_all_events_shows_none(bench: Bench):
    await bench.create()
    assert await stream(bench, after=(1 << 63) - 1) == []


def test_the_protocol_lists_every_kind_of_event():
    section = PROTOCOL.read_text().partition("### Events")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, flags=re.MULTILINE)) == set(EventKind)
