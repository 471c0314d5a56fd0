"""What a page is told: all of it at first, then what has changed; never a secret."""

import asyncio
import sys

import pytest

from fedperm.dashboard import observer
from fedperm.dashboard.presenter import summarise
from fedperm.dashboard.reading import ReadRound
from fedperm.wire.aggregator import Heartbeat, LedgerReport, Measured, Phase, TestMetrics
from tests.aggregator.bench import Bench
from tests.aggregator.gated import gated
from tests.aggregator.parties import OPERATOR, Client
from tests.aggregator.test_events import whole_run
from tests.aggregator.test_reports import REPORT, SEALED
from tests.dashboard.places import Place
from tests.dashboard.visitor import Told, Visitor

pytestmark = pytest.mark.anyio

LIVE = "/dashboard/api/runs/digits/live"


async def told(visitor: Visitor, after: int = 0) -> list[Told]:
    """A stream of a server that is stopping ends after one look."""
    await visitor.place.caught_up()
    visitor.place.notifier.close()
    return await visitor.told(f"{LIVE}?after={after}")


async def test_a_page_begins_with_everything(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    await whole_run(opened, clients)
    rounds, now = await told(visitor)
    assert (rounds.kind, now.kind) == ("rounds", "now")
    reports = (await opened.api.rounds(opened.run, OPERATOR)).rounds
    expected = [summarise(ReadRound(report)).model_dump(mode="json") for report in reports]
    assert rounds.content["rounds"] == expected
    status = await opened.api.run(opened.run, OPERATOR)
    assert now.content["status"] == status.model_dump(mode="json")
    assert now.content["progress"]["name"] == "completed"


async def test_a_page_that_comes_back_is_told_what_it_missed(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    position = (await told(visitor))[-1].position
    (now,) = await told(visitor, position)
    assert now.kind == "now"
    await opened.contribute(2, clients[0])
    rounds, now = await told(visitor, position)
    assert [one["number"] for one in rounds.content["rounds"]] == [2]
    assert now.content["progress"]["words"].startswith("Collecting updates: 1 of 3 received")
    assert now.position > position


async def test_a_deadline_is_shown_while_somebody_is_asked(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert (await told(visitor))[-1].content["deadline_at"] == report.deadline_at
    await opened.contribute(1, *clients)
    background = opened.aggregator.services.background
    await background.tick()
    await background.drain()
    async with gated(opened.aggregator) as gate:
        await background.tick()
        gate.wait_for_work()
        folding = (await told(visitor))[-1].content
        assert folding["progress"]["name"] == "adding up"
        assert folding["deadline_at"] is None


async def test_what_clients_do_is_shown_as_they_say_it(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    ada, ben, cleo = clients
    beat = Heartbeat(phase=Phase.ENCRYPTING, round=1)
    await opened.api.beat(opened.run, ada.name, beat, opened.server.token(ada))
    await opened.contribute(1, ben)
    await opened.aggregator.tick()
    opened.clock.advance(31)
    await opened.beat(cleo)
    now = (await told(visitor))[-1].content
    shown = {c["client"]: (c["online"], c["doing"], c["standing"]) for c in now["clients"]}
    assert shown == {
        "ada": (False, "encrypting", "awaited"),
        "ben": (False, "idle", "checked"),
        "cleo": (True, "idle", "awaited"),
    }


async def test_the_key_in_use_is_that_of_the_newest_round(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    await opened.put_epoch(2)
    before = (await told(visitor))[-1].content["key"]
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    keys = [before, (await told(visitor))[-1].content["key"]]
    assert [key["epoch"] for key in keys] == [1, 2]
    expected = [opened.pair(epoch).public_key.key_id for epoch in (1, 2)]
    assert [key["fingerprint"] for key in keys] == expected
    assert {(key["scheme"], key["bits"]) for key in keys} == {("paillier", 512)}


async def test_ledgers_are_shown_by_the_largest_share(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    for client, spent, budget in zip(clients, (3.0, 2.0, 1.0), (4.0, 2.5, 10.0), strict=True):
        ledger = LedgerReport(
            epsilon=spent,
            budget=budget,
            delta=1e-5,
            accountant="default",
            charges=1,
            whole_update=9,
        )
        report = REPORT.model_copy(update={"ledger": ledger})
        await opened.api.report(opened.run, 1, client.name, report, opened.server.token(client))
    rounds = (await told(visitor))[0].content["rounds"]
    shown = rounds[0]["ledgers"]
    assert (shown["client"], shown["epsilon"], shown["budget"]) == ("ben", 2.0, 2.5)
    assert (shown["clients"], rounds[1]["ledgers"]) == (3, None)


async def test_a_client_that_lies_about_itself_moves_no_number(
    opened: Bench, visitor: Visitor, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    largest = sys.float_info.max
    measured = Measured(test=TestMetrics(accuracy=0.0, loss=largest))
    false = REPORT.model_copy(update={"measured": measured})
    for client, report in zip(clients, (REPORT, false, REPORT), strict=True):
        await opened.api.report(opened.run, 1, client.name, report, opened.server.token(client))
    shown = (await told(visitor))[0].content["rounds"][0]
    assert (shown["accuracy"], shown["loss"]) == (REPORT.test.accuracy, REPORT.test.loss)
    assert (shown["accuracy_low"], shown["accuracy_high"]) == (0.0, REPORT.test.accuracy)


async def test_accuracy_is_shown_only_where_it_came_in_the_clear(
    opened: Bench, own: Place, clients: list[Client]
):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    visitor, told_so_far = Visitor(own), []
    await visitor.log_in()
    for client, report in zip(clients, (SEALED, SEALED, REPORT), strict=True):
        await opened.api.report(opened.run, 1, client.name, report, opened.server.token(client))
        shown = (await told(visitor))[0].content["rounds"][0]
        told_so_far.append([shown[n] for n in ("sealed", "in_clear", "accuracy", "loss")])
    assert told_so_far == [
        [1, 0, None, None],
        [2, 0, None, None],
        [2, 1, REPORT.test.accuracy, REPORT.test.loss],
    ]


async def test_of_a_long_run_the_newest_rounds_are_shown(
    opened: Bench, visitor: Visitor, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(observer, "MOST_ROUNDS", 1)
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    rounds, _ = await told(visitor)
    assert [one["number"] for one in rounds.content["rounds"]] == [2]


async def test_the_list_of_runs(opened: Bench, visitor: Visitor):
    visitor.place.notifier.close()
    (news,) = await visitor.told("/dashboard/api/live")
    listed = await opened.api.runs(OPERATOR)
    assert news.content == listed.model_dump(mode="json")


async def test_a_stream_that_is_open_ends_with_the_session(opened: Bench, place: Place):
    board = place.dashboard
    secret = board.sessions.log_in(place.key)
    news = board.live.run(opened.run, 0, lambda: board.sessions.is_open(secret))
    assert (await anext(news)).kind == "rounds"
    board.sessions.log_out(secret)
    rest = await asyncio.wait_for(_all(news), 30)
    assert [one.kind for one in rest if one] == ["now"]


async def _all(news) -> list:
    return [one async for one in news]


async def test_a_senseless_position_is_refused(visitor: Visitor):
    for position in ("x", "-1", str(1 << 63)):
        assert (await visitor.http.get(f"{LIVE}?after={position}")).status_code == 422


async def test_an_unknown_run_is_refused_before_a_stream_begins(visitor: Visitor):
    for path in ("", "/live", "/rounds/1"):
        answer = await visitor.http.get(f"/dashboard/api/runs/unknown{path}")
        assert answer.status_code == 404
        assert answer.headers["Content-Type"] == "application/problem+json"
