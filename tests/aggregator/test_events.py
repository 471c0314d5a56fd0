"""What happened, in order, and again after a lost connection."""

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from gmpy2 import mpz

from fedperm.submissions import UPDATE
from fedperm.wire.digest import sha256_of
from fedperm.wire.events import Event, EventKind
from fedperm_aggregator.stores.jobs import JobStore
from tests.aggregator.bench import Bench
from tests.aggregator.gated import gated
from tests.aggregator.parties import OPERATOR, START, Client
from tests.aggregator.test_reports import REPORT
from tests.aggregator.test_validation import with_ciphertext

pytestmark = pytest.mark.anyio

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"


async def stream(bench: Bench, after: int = 0) -> list[Event]:
    """All that is there: a stream of an aggregator that is stopping ends after it."""
    bench.aggregator.services.notifier.close()
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
    checks = ["submission-checked"] * 3
    assert [e.event for e in events] == [
        "run-created",
        "initial-model",
        "key-epoch",
        *["participant-joined"] * 3,
        "round-opened",
        *["submission-stored"] * 3,
        *checks,
        "round-sealed",
        "round-published",
        "round-opened",
        "client-report",
        "submission-stored",
        "submission-checked",
        "participant-excluded",
        "run-stopped",
        "run-resumed",
        "round-extended",
        "round-aborted",
        "run-completed",
    ]
    ids = [event.id for event in events]
    assert ids == sorted(set(ids))
    rejected = [e for e in events if e.event == EventKind.SUBMISSION_CHECKED][-1]
    assert (rejected.round, rejected.client) == (2, "ada")
    assert rejected.details.state == "rejected"


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
    bench.aggregator.services.notifier.close()
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


class Told:
    """Events by their kind: when, in which round, about whom, and what was said."""

    def __init__(self, bench: Bench) -> None:
        self._events = bench.aggregator.events.of_run(bench.run, 0)

    def of(self, kind: EventKind) -> list[tuple[float, int, str, dict[str, Any]]]:
        told = [event for event in self._events if event.event == kind]
        return sorted(
            ((e.at - START, e.round, e.client, e.details.model_dump(mode="json")) for e in told),
            key=lambda one: one[:3],
        )


NAMES = ["ada", "ben", "cleo"]


async def test_a_round_that_is_published_tells_its_steps_in_full(
    opened: Bench, clients: list[Client]
):
    """Opened at once, uploads after 7 s, sealed after 9, published after 13."""
    opened.clock.advance(7)
    await opened.contribute(1, *clients)
    opened.clock.advance(2)
    background = opened.aggregator.services.background
    await background.tick()
    await background.drain()
    async with gated(opened.aggregator) as gate:
        await background.tick()
        gate.wait_for_work()
        opened.clock.advance(4)
    await background.drain()
    told = Told(opened)
    opening = {"epoch": 1, "selected": NAMES, "deadline_at": START + 60}
    assert told.of(EventKind.ROUND_OPENED) == [(0, 1, "", opening)]
    size = len(opened.sent[1, "ada"].body)
    assert told.of(EventKind.SUBMISSION_STORED) == [
        (7, 1, name, {"kind": "update", "size": size}) for name in NAMES
    ]
    sealing = {"members": NAMES, "seconds": 9}
    assert told.of(EventKind.ROUND_SEALED) == [(9, 1, "", sealing)]
    aggregate = await opened.api.aggregate(opened.run, 1, OPERATOR)
    publishing = {
        "contributors": 3,
        "sha256": sha256_of(aggregate),
        "size": len(aggregate),
        "seconds": 4,
    }
    assert told.of(EventKind.ROUND_PUBLISHED) == [(13, 1, "", publishing)]


async def test_a_check_is_told_with_the_norms_before_and_after(bench: Bench, clients: list[Client]):
    await bench.create(norm_bound={"limit": 0.5})
    await bench.join(*clients)
    await bench.aggregator.tick()
    await bench.contribute(1, clients[0])
    bench.clock.advance(3)
    await bench.aggregator.tick()
    ((at, number, name, details),) = Told(bench).of(EventKind.SUBMISSION_CHECKED)
    report = await bench.api.submission(UPDATE, bench.run, 1, "ada", OPERATOR)
    assert (at, number, name) == (3, 1, "ada")
    assert details == {
        "kind": "update",
        "state": "valid",
        "reason": "",
        "norm_before": report.norm_before,
        "norm_after": report.norm_after,
        "bounded": True,
    }
    assert report.bounded
    assert 0 < report.norm_after <= 0.5 < report.norm_before


async def test_rounds_that_fail_tell_why_and_how_many_updates_are_dropped(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    opened.clock.advance(60)
    await opened.aggregator.tick()
    opened.clock.advance(20)
    await opened.aggregator.tick()
    told = Told(opened)
    extending = {"deadline_at": START + 80, "extensions": 1}
    assert told.of(EventKind.ROUND_EXTENDED) == [(60, 1, "", extending)]
    reason = "1 of 3 selected clients sent a valid update, 2 are needed"
    aborting = {"reason": reason, "dropped": 1}
    assert told.of(EventKind.ROUND_ABORTED) == [(80, 1, "", aborting)]


async def test_a_run_that_ends_says_how(bench: Bench, clients: list[Client]):
    """One round, which is aborted: the run is complete, or has failed if it gives up after one."""
    for run, patience in (("patient", 3), ("hasty", 1)):
        await bench.create(run=run, rounds={"count": 1, "extensions": 0, "give_up_after": patience})
        await bench.join(*clients)
        await bench.aggregator.tick()
        bench.clock.advance(60)
        await bench.aggregator.tick()
        status = await bench.api.run(run, OPERATOR)
        at = bench.clock.now() - START
        told = Told(bench)
        if run == "patient":
            assert (status.state, status.reason) == ("completed", "all 1 rounds are done")
            assert told.of(EventKind.RUN_COMPLETED) == [(at, 0, "", {})]
        else:
            why = "1 rounds in a row were aborted"
            assert (status.state, status.reason) == ("failed", why)
            assert told.of(EventKind.RUN_FAILED) == [(at, 0, "", {"reason": why})]


async def test_a_job_that_fails_says_which_and_how_often(opened: Bench, clients: list[Client]):
    await opened.contribute(1, clients[0])
    opened.clock.advance(5)
    store = JobStore(opened.aggregator.database)
    (lease,) = store.claim(opened.clock.now(), 15.0, 9, Random(1))
    store.try_again(lease, "no memory", opened.clock.now(), 2.0)
    failing = {"kind": "check", "attempt": 1, "reason": "no memory"}
    assert Told(opened).of(EventKind.JOB_FAILED) == [(5, 1, "ada", failing)]
    assert store.claim(opened.clock.now() + 1.9, 15.0, 9, Random(1)) == []
    (again,) = store.claim(opened.clock.now() + 2.0, 15.0, 9, Random(1))
    assert again.attempt == 2
