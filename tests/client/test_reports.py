"""What a client says after a round, and what it keeps to itself."""

import json
import logging

import httpx
import pytest

from fedperm.run_document import FrozenDocument, RunDocument
from fedperm_client.reports import IN_CLEAR, Reporting, Reports
from fedperm_client.taking_part import TakingPart
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.documents import document, rounds
from tests.client.federation import drive
from tests.documents.operator import read_by_operator

pytestmark = pytest.mark.anyio

ONE_ROUND = rounds(count=1)


def is_report(request: httpx.Request) -> bool:
    return "/reports/" in request.url.path


async def reports_of(federation):
    return await federation.aggregator.api.round_report("demo", 1, RUN_OPERATOR)


async def test_by_default_the_operator_reads_it_and_the_aggregator_does_not(federation):
    frozen = await federation.start(wanted=document(rounds=ONE_ROUND))
    ada, ben = await federation.homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    report = await reports_of(federation)
    for named in report.reports:
        assert named.report.measured is None
        assert all(round(10 * spent) == 10 * spent for _, spent in named.report.seconds)
    read = {named.client: named.report for named in read_by_operator(report, frozen).reports}
    for home in (ada, ben):
        assert read[home.name].test == home.summary.test
        assert read[home.name].seconds == home.summary.history[0].report.seconds
        assert home.summary.reports == "sealed"
        assert IN_CLEAR not in home.summary.privacy["notes"]


async def test_in_the_clear_only_where_the_owner_wants_it(federation, caplog):
    await federation.start(wanted=document(rounds=ONE_ROUND))
    ada = await federation.home("ada", reports="clear")
    ben = await federation.home("ben")
    with caplog.at_level(logging.WARNING), ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    told = {named.client: named.report for named in (await reports_of(federation)).reports}
    assert told["ada"].in_clear
    assert told["ada"].test == ada.summary.test
    assert told["ben"].measured is None
    assert IN_CLEAR in caplog.text
    assert IN_CLEAR in ada.summary.privacy["notes"]
    assert ada.summary.reports == "clear"


async def test_a_model_that_cannot_be_tested_makes_no_difference_to_the_aggregator(federation):
    """The aggregator may have chosen it so: a client that stopped would answer a question."""
    frozen = await federation.start(wanted=document(rounds=ONE_ROUND))
    ada, ben = await federation.homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        while not isinstance(one.stage, TakingPart):
            await one.step()

        def fails(_parameters):
            raise ZeroDivisionError

        one.stage.run.learner.test = fails
        await drive(federation, one, two)
    read = read_by_operator(await reports_of(federation), frozen)
    assert [named.report.test is None for named in read.reports] == [True, False]
    (failed,), (usual,) = (
        [json.loads(request.content) for request in home.to_aggregator.sent(is_report)]
        for home in (ada, ben)
    )
    assert failed.keys() == usual.keys()
    assert len(failed["sealed"]) == len(usual["sealed"])


async def test_a_run_of_an_older_version_hears_nothing_of_the_model(federation):
    """Its document names nobody to whom a report could be sealed."""
    frozen = await federation.start_lines(rounds=ONE_ROUND)
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    older = {"protocol": "fedperm/2", "operator": None}
    old = FrozenDocument.of(RunDocument.model_validate(frozen.content.model_dump() | older))
    (record,) = ada.summary.history
    for reporting in Reporting:
        told = Reports(old, ada.name, reporting).as_sent(record)
        assert told.sealed is None
        assert told.in_clear is (reporting is Reporting.CLEAR)
