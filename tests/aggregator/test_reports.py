"""What is told of a round: outcomes, aggregates, reports."""

import hashlib
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx
import pytest

from fedperm.crash_points import watching
from fedperm.errors import RefusedError
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import (
    SEALED_CHARACTERS,
    ClientReport,
    ClientSeconds,
    Measured,
    RoundState,
    SubmissionState,
    TestMetrics,
)
from fedperm.wire.digest import sha256_of
from fedperm_secret.schemes.paillier.keys import SecretKey
from tests.aggregator.bench import Aggregator, Bench, quick_folder
from tests.aggregator.parties import OPERATOR, Client, KeyServer, ManualClock

pytestmark = pytest.mark.anyio

SECONDS = ClientSeconds(train=1, randomize=0.5, encrypt=2, upload=0.1, decrypt=0.3)
MEASURED = Measured(test=TestMetrics(accuracy=0.5, loss=1.5))
REPORT = ClientReport(seconds=SECONDS, bytes_up=10, bytes_down=20, measured=MEASURED)
SEALED = REPORT.model_copy(update={"measured": None, "sealed": "A" * SEALED_CHARACTERS})


async def refusal(coroutine) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await coroutine
    return caught.value.status, caught.value.kind


@pytest.fixture(scope="module")
async def published(small_key: SecretKey, clients: list[Client]) -> AsyncIterator[Bench]:
    """Round 1 is published, round 2 open: stored after 7 s, published after 9."""
    clock = ManualClock()
    with quick_folder() as folder:
        aggregator = Aggregator(folder, clock)
        bench = Bench(aggregator, KeyServer(clock, {1: small_key}), Random(6), clients)
        await bench.create()
        await bench.join(*bench.clients)
        await aggregator.tick()
        clock.advance(7)
        await bench.contribute(1, *bench.clients)
        clock.advance(2)
        await aggregator.tick()
        yield bench
        aggregator.close()


async def get_aggregate(bench: Bench, client: Client, number: int = 1, **more: str):
    headers = {"Authorization": f"Bearer {bench.server.token(client)}", **more}
    path = f"/v1/runs/{bench.run}/rounds/{number}/aggregate"
    response: httpx.Response = await bench.aggregator.http.get(path, headers=headers)
    return response


async def test_an_aggregate_is_awaited(published: Bench):
    early = await get_aggregate(published, published.clients[0], number=2)
    assert (early.status_code, early.headers["Retry-After"], early.content) == (202, "1", b"")
    unknown = await get_aggregate(published, published.clients[0], number=9)
    assert unknown.status_code == 404


async def test_an_aggregate_never_changes(published: Bench):
    ada = published.clients[0]
    read = await get_aggregate(published, ada)
    sha256 = hashlib.sha256(read.content).hexdigest()
    assert read.headers["ETag"] == f'"{sha256}"'
    assert "immutable" in read.headers["Cache-Control"]
    assert read.headers["Content-Type"] == "application/vnd.safetensors"
    outcome = await published.api.outcome(published.run, 1, published.server.token(ada))
    assert outcome.aggregate is not None
    assert (outcome.aggregate.sha256, outcome.aggregate.size) == (sha256, len(read.content))
    for known in (f'"{sha256}"', f'W/"{sha256}"', f'"other", "{sha256}"', "*"):
        same = await get_aggregate(published, ada, **{"If-None-Match": known})
        assert (same.status_code, same.content) == (304, b"")
        assert same.headers["ETag"] == f'"{sha256}"'
    other = await get_aggregate(published, ada, **{"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, read.content)


async def test_an_aborted_round_has_no_aggregate(opened: Bench, clients: list[Client]):
    opened.clock.advance(60)
    await opened.aggregator.tick()
    opened.clock.advance(20)
    await opened.aggregator.tick()
    assert (await get_aggregate(opened, clients[0])).status_code == 410


async def test_the_outcome_of_an_open_round(published: Bench):
    token = published.server.token(published.clients[1])
    outcome = await published.api.outcome(published.run, 2, token)
    assert outcome.model_dump(mode="json") == {
        "round": 2,
        "state": "open",
        "epoch": 1,
        "selected": ["ada", "ben", "cleo"],
        "included": [],
        "aggregate": None,
        "reason": "",
    }


async def test_the_operator_sees_everything_about_a_round(published: Bench):
    report = await published.api.round_report(published.run, 1, OPERATOR)
    start = published.clock.now() - 9
    assert report.outcome.state is RoundState.PUBLISHED
    assert (report.opened_at, report.deadline_at) == (start, start + 60)
    assert (report.sealed_at, report.settled_at) == (start + 9, start + 9)
    assert (report.seconds.open, report.seconds.fold) == (9, 0)
    assert report.seconds.validation_cpu > 0
    assert report.seconds.folding_cpu > 0
    assert report.seconds.rerandomising_cpu > 0
    assert [(u.client, u.state, u.received_at) for u in report.updates] == [
        (name, SubmissionState.INCLUDED, start + 7) for name in ("ada", "ben", "cleo")
    ]
    assert [u.size for u in report.updates] == [len(published.sent[1, "ada"].body)] * 3
    both = (await published.api.rounds(published.run, OPERATOR)).rounds
    assert [r.outcome.round for r in both] == [1, 2]
    assert both[0] == report


async def test_an_updates_sender_sees_what_became_of_it(published: Bench):
    token = published.server.token(published.clients[0])
    unsent = published.api.submission(UPDATE, published.run, 2, "ada", token)
    assert await refusal(unsent) == (404, "unknown-resource")
    report = await published.api.submission(UPDATE, published.run, 1, "ada", token)
    assert report.state is SubmissionState.INCLUDED
    assert report.norm_after is not None
    assert report.norm_after <= 1.0


async def test_the_first_report_stays(published: Bench):
    token = published.server.token(published.clients[0])
    early = published.api.report(published.run, 2, "ada", REPORT, token)
    assert await refusal(early) == (409, "conflict")
    await published.api.report(published.run, 1, "ada", REPORT, token)
    other = REPORT.model_copy(update={"bytes_up": 99})
    await published.api.report(published.run, 1, "ada", other, token)
    report = await published.api.round_report(published.run, 1, OPERATOR)
    (named,) = report.reports
    assert (named.client, named.report) == ("ada", REPORT)
    unopened = published.api.report(published.run, 9, "ada", REPORT, token)
    assert await refusal(unopened) == (404, "unknown-resource")


WILD = [
    ("bytes_up", 10**30),
    ("bytes_down", 1 << 53),
    ("seconds", SECONDS.model_dump() | {"train": 1e308}),
    ("seconds", SECONDS.model_dump() | {"decrypt": -1}),
    ("measured", {"test": {"accuracy": 1.5, "loss": 1.0}}),
    ("sealed", "A" * SEALED_CHARACTERS),
]
"""The last beside what is in the clear."""


@pytest.mark.parametrize(("member", "value"), WILD)
async def test_a_report_beyond_all_measure_is_refused(published: Bench, member: str, value: Any):
    ben = published.clients[1]
    response = await published.aggregator.http.put(
        f"/v1/runs/{published.run}/rounds/1/reports/ben",
        json=REPORT.model_dump() | {member: value},
        headers={"Authorization": f"Bearer {published.server.token(ben)}"},
    )
    assert response.status_code == 422
    report = await published.api.round_report(published.run, 1, OPERATOR)
    assert "ben" not in {named.client for named in report.reports}


async def test_what_is_sealed_is_kept_and_handed_on_as_it_is(published: Bench):
    cleo = published.clients[2]
    token = published.server.token(cleo)
    await published.api.report(published.run, 1, "cleo", SEALED, token)
    report = await published.api.round_report(published.run, 1, OPERATOR)
    assert SEALED in [named.report for named in report.reports if named.client == "cleo"]


@pytest.mark.parametrize("length", [0, SEALED_CHARACTERS - 1, SEALED_CHARACTERS + 1])
async def test_what_is_sealed_has_one_length(published: Bench, length: int):
    ben = published.clients[1]
    response = await published.aggregator.http.put(
        f"/v1/runs/{published.run}/rounds/1/reports/ben",
        json=SEALED.model_dump() | {"sealed": "A" * length},
        headers={"Authorization": f"Bearer {published.server.token(ben)}"},
    )
    assert response.status_code == 422


def test_a_report_that_was_kept_by_an_older_version_is_read():
    """Reports had what was measured among the rest."""
    kept = REPORT.model_dump(exclude={"measured", "sealed"})
    old = kept | {"test": {"accuracy": 0.5, "loss": 1.5}, "train_loss": None}
    assert ClientReport.model_validate(old) == REPORT


async def test_only_participants_report(published: Bench):
    token = published.server.token(Client("dora"))
    report = published.api.report(published.run, 1, "dora", REPORT, token)
    assert await refusal(report) == (404, "unknown-resource")


async def test_a_training_loss_is_taken_only_where_the_document_asks_for_it(
    bench: Bench, clients: list[Client]
):
    measured = MEASURED.model_copy(update={"train_loss": 0.7})
    losing = REPORT.model_copy(update={"measured": measured})
    for run, asks in (("plain", False), ("curious", True)):
        await bench.create(run=run, local_metrics=asks)
        await bench.join(*clients)
        await bench.aggregator.tick()
        await bench.contribute(1, *clients)
        await bench.aggregator.tick()
        sending = bench.api.report(run, 1, "ada", losing, bench.server.token(clients[0]))
        if asks:
            await sending
        else:
            assert await refusal(sending) == (422, "invalid-request")
        reports = (await bench.api.round_report(run, 1, OPERATOR)).reports
        assert [r.report.measured for r in reports] == [measured] * asks


async def test_what_a_settled_round_came_to_is_read_once_for_all(published: Bench):
    passed: list[str] = []
    with watching(passed.append):
        for client in published.clients:
            token = published.server.token(client)
            outcome = await published.api.outcome(published.run, 1, token)
            assert outcome.aggregate is not None
            body = await published.api.aggregate(published.run, 1, token)
            assert sha256_of(body) == outcome.aggregate.sha256
    assert passed.count("ReportStore.outcome.done") <= 1


async def test_what_an_open_round_will_come_to_is_not_remembered(
    opened: Bench, clients: list[Client]
):
    assert (await opened.api.outcome(opened.run, 1, OPERATOR)).state is RoundState.OPEN
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    assert (await opened.api.outcome(opened.run, 1, OPERATOR)).state is RoundState.PUBLISHED


async def test_an_answer_without_content_names_no_type(published: Bench):
    ada = published.clients[0]
    answer = await published.aggregator.http.put(
        f"/v1/runs/{published.run}/rounds/1/reports/{ada.name}",
        content=REPORT.model_dump_json(),
        headers={
            "Authorization": f"Bearer {published.server.token(ada)}",
            "Content-Type": "application/json",
        },
    )
    assert (answer.status_code, answer.content) == (204, b"")
    assert "Content-Type" not in answer.headers
