"""What clients seal to the run's operator is shown on the operator's page and on no other."""

from random import Random

import pytest

from fedperm.wire.aggregator import SEALED_CHARACTERS, ClientReport
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_secret.sealed_reports import ReportPlace
from tests.aggregator.bench import Bench
from tests.aggregator.parties import Client
from tests.aggregator.test_reports import MEASURED, REPORT
from tests.dashboard.places import Place, at_the_aggregator, at_the_operator
from tests.dashboard.test_live import LIVE, told
from tests.dashboard.visitor import Visitor
from tests.documents.operator import IDENTITY

pytestmark = pytest.mark.anyio


def sealed_by(bench: Bench, client: Client, operator: OperatorIdentity = IDENTITY) -> ClientReport:
    place = ReportPlace(bench.run, bench.document.sha256, 1, client.name)
    sealed = place.seal(MEASURED, operator.keys.sealing_key)
    return REPORT.model_copy(update={"measured": None, "sealed": sealed})


async def report(bench: Bench, client: Client, what: ClientReport) -> None:
    await bench.api.report(bench.run, 1, client.name, what, bench.server.token(client))


@pytest.fixture
async def reported(opened: Bench, clients: list[Client]) -> Bench:
    """Round 1 is over; ada sealed her report, and the others may."""
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    await report(opened, clients[0], sealed_by(opened, clients[0]))
    return opened


async def shown(place: Place) -> dict:
    """The first round."""
    async with Visitor(place) as visitor:
        await visitor.log_in()
        return (await told(visitor))[0].content["rounds"][0]


async def test_the_operator_reads_what_the_aggregator_cannot(reported: Bench):
    async with at_the_aggregator(reported) as place:
        at_the_aggregators = await shown(place)
    async with at_the_operator(reported) as place:
        at_the_operators = await shown(place)
    unread = {"accuracy": None, "accuracy_low": None, "accuracy_high": None, "loss": None}
    read = {"accuracy": 0.5, "accuracy_low": 0.5, "accuracy_high": 0.5, "loss": 1.5}
    assert at_the_aggregators == at_the_operators | unread | {"sealed": 1}
    assert at_the_operators == at_the_aggregators | read | {"sealed": 0}
    assert (at_the_operators["in_clear"], at_the_operators["broken"]) == (0, 0)


async def test_nothing_of_it_is_in_any_answer_of_the_aggregators_page(reported: Bench):
    async with at_the_aggregator(reported) as place, Visitor(place) as visitor:
        await visitor.log_in()
        place.notifier.close()
        answers = [
            (await visitor.http.get(path)).json()
            for path in ("/dashboard/api/runs/digits", "/dashboard/api/runs/digits/rounds/1")
        ]
        assert [one["report"]["measured"] for one in answers[1]["reports"]] == [None]
        stream = (await visitor.http.get(f"{LIVE}?after=0")).text
        assert '"accuracy":null' in stream


async def test_a_report_that_does_not_open_is_counted_and_not_shown(
    reported: Bench, clients: list[Client]
):
    """Of ben something that nobody sealed, of cleo what ada sealed."""
    nonsense = REPORT.model_copy(update={"measured": None, "sealed": "A" * SEALED_CHARACTERS})
    await report(reported, clients[1], nonsense)
    await report(reported, clients[2], sealed_by(reported, clients[0]))
    async with at_the_operator(reported) as place:
        one = await shown(place)
    assert (one["reports"], one["broken"], one["sealed"]) == (3, 2, 0)
    assert (one["accuracy_low"], one["accuracy_high"]) == (0.5, 0.5)


async def test_another_operators_key_opens_nothing_and_none_neither(reported: Bench):
    for identity in (OperatorIdentity.drawn(Random(3)), None):
        async with at_the_operator(reported, identity=identity) as place:
            one = await shown(place)
        assert (one["accuracy"], one["sealed"], one["broken"]) == (None, 1, 0)


async def test_what_came_in_the_clear_is_shown_and_counted_at_both(
    reported: Bench, clients: list[Client]
):
    await report(reported, clients[1], REPORT)
    for opened_at in (at_the_aggregator, at_the_operator):
        async with opened_at(reported) as place:
            one = await shown(place)
        assert (one["reports"], one["in_clear"], one["accuracy"]) == (2, 1, 0.5)
