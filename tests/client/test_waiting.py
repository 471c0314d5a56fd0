"""A client that runs by itself: it waits for what is not there yet, and says so."""

import asyncio
import logging
from contextlib import asynccontextmanager

import pytest

from fedperm.api.connection import Patience
from fedperm.errors import RefusedError
from tests.aggregator.bench import Aggregator
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import request_of
from tests.client.documents import LINES, lines_document, rounds

pytestmark = pytest.mark.anyio


class Pauses:
    """Sleeps no time at all, remembers how long, and lets something happen after some pauses.
    Nobody's pause ends while it happens."""

    def __init__(self, events=None) -> None:
        self.seconds: list[float] = []
        self._events = events or {}
        self._happening = asyncio.Lock()

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        happen = self._events.pop(len(self.seconds), None)
        async with self._happening:
            if happen is not None:
                await happen()

    def patience(self, seconds: float) -> Patience:
        return Patience(seconds, first_pause_seconds=1.0, sleep=self.sleep)


@asynccontextmanager
async def ticking(federation):
    """The aggregator's background work."""

    async def tick() -> None:
        while True:
            await federation.tick()

    task = asyncio.create_task(tick())
    yield
    task.cancel()
    await asyncio.wait([task])


async def test_clients_that_start_before_the_run_exists_wait_for_it(federation, caplog):
    await federation.create_key()
    ada, ben = await federation.line_homes("ada", "ben")
    pauses = Pauses({3: lambda: federation.start_run(LINES, lines_document())})
    patience = pauses.patience(100)
    with (
        caplog.at_level(logging.INFO, logger="fedperm_client"),
        ada.client(patience) as one,
        ben.client(patience) as two,
    ):
        async with ticking(federation):
            await asyncio.gather(one.run(), two.run())
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert "not yet: there is no run demo" in caplog.text
    assert "trying again in 1.0 s" in caplog.text
    for words in ("enrolled as ada", "joined run demo", "round 1: trained in", "round 2: applied"):
        assert words in caplog.text


async def test_a_client_that_is_told_to_wait_waits_and_goes_on(federation, clock, caplog):
    """An aggregator that takes far fewer calls than a round needs: it takes longer, that is all."""
    federation.aggregator.close()
    few = {"call_burst": 6, "calls_per_second": 3.0}
    federation.aggregator = Aggregator(federation.folder / "aggregator", clock, **few)
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)
        await asyncio.sleep(0)

    patience = Patience(20.0, first_pause_seconds=1.0, sleep=sleep)
    with (
        caplog.at_level(logging.WARNING, logger="fedperm_client"),
        ada.client(patience) as one,
        ben.client(patience) as two,
    ):
        async with ticking(federation):
            await asyncio.gather(one.run(), two.run())
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert "not yet: too many requests" in caplog.text


async def test_patience_ends(federation):
    await federation.create_key()
    (ada,) = await federation.line_homes("ada")
    pauses = Pauses()
    with ada.client(pauses.patience(20)) as one, pytest.raises(RefusedError) as refusal:
        await one.run()
    assert refusal.value.status == 404
    assert pauses.seconds == [1, 2, 4, 8, 10]


async def test_every_step_that_succeeds_renews_the_patience(federation):
    """Four hiccups of one second each, with a patience of two."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    for ending in ("/participants/ada", "/rounds/1/updates/ada", "/rounds/2/updates/ada"):
        ada.to_aggregator.before.append(request_of("PUT", ending))
    ada.to_key_server.before.append(request_of("POST", "/clients"))
    pauses = Pauses()
    with ada.client(pauses.patience(2)) as one, ben.client(pauses.patience(0)) as two:
        async with ticking(federation):
            await asyncio.gather(one.run(), two.run())
    assert pauses.seconds == [1, 1, 1, 1]
    assert [len(ada.uploads(number)) for number in (1, 2)] == [1, 1]


async def test_what_cannot_pass_is_not_waited_for(federation):
    """A client that was excluded may not join again."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    with ada.client() as one:
        await one.step()
        await one.step()
    await federation.aggregator.api.exclude("demo", "ada", RUN_OPERATOR)
    pauses = Pauses()
    with ada.client(pauses.patience(100)) as one, pytest.raises(RefusedError) as refusal:
        await one.run()
    assert refusal.value.status == 403
    assert not pauses.seconds


@pytest.mark.parametrize(("status", "pauses_made"), [(503, [1]), (409, [])])
async def test_a_report_is_sent_again_or_given_up_and_the_work_goes_on(
    federation, status, pauses_made
):
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.refusals.append((request_of("PUT", "/rounds/1/reports/ada"), status))
    pauses = Pauses()
    with ada.client(pauses.patience(2)) as one, ben.client(pauses.patience(0)) as two:
        async with ticking(federation):
            await asyncio.gather(one.run(), two.run())
    report = await federation.aggregator.api.round_report("demo", 1, RUN_OPERATOR)
    assert pauses.seconds == pauses_made
    assert ("ada" in {named.client for named in report.reports}) == bool(pauses_made)
    assert ada.summary.rounds == 1
