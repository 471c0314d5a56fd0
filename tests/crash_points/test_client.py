"""A client dies at every moment at which it has written something, or is about to.

With a retry it comes back at once and its round waits for it. Without one it stays away until its
round is over, which ends without it, or with it if its update was there.
"""

from contextlib import ExitStack

import pytest

from fedperm.privacy.events import Rounds
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import event_of
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import encode_model
from fedperm_cli.federation.processes import Processes
from tests.aggregator.bench import quick_folder
from tests.crash_points.mortal import until
from tests.crash_points.mortal_client import Ada
from tests.crash_points.nursery import Nursery
from tests.crash_points.points import CLIENT_STEPS
from tests.crash_points.surroundings import NAME, Federation
from tests.crash_points.tally import Case

pytestmark = [pytest.mark.anyio, pytest.mark.system]

ENROL, SEND, SETTLE, FINISH, REFUSE = CLIENT_STEPS.values()
PLENTY = 1e6


@pytest.fixture
async def federation():
    with quick_folder() as folder, ExitStack() as stack:
        federation = Federation(folder)
        await federation.open(stack)
        yield federation
        await federation.close()


@pytest.fixture
def processes(federation: Federation, clients: Nursery):
    with Processes(federation.folder / NAME, clients.spawn) as processes:
        yield processes


async def ada_of(
    federation: Federation, processes: Processes, tally, max_epsilon: float, retried: bool
) -> Ada:
    token = await federation.token(NAME)
    return Ada(processes, federation, tally, token, max_epsilon, retried=retried)


async def test_a_client_that_comes_back_at_once(federation: Federation, processes, tally):
    """All in two rounds."""
    await federation.start_run("demo", count=2, start_with=3)
    ada = await ada_of(federation, processes, tally, PLENTY, retried=True)
    for moment in (*ENROL, *SEND[:1]):
        ada.start(moment)
        await ada.died_of(moment)
    await federation.play_the_others()
    *sending, acknowledged = SEND
    for moment in sending[1:]:
        ada.start(moment)
        await ada.died_of(moment)
    assert NAME in await federation.settle()
    *settling, told = SETTLE
    for moment in settling:
        ada.start(moment)
        await ada.died_of(moment)
    await federation.play_the_others()
    ada.start(acknowledged)
    await ada.died_of(acknowledged)
    assert NAME in await federation.settle()
    ada.start(told)
    await ada.died_of(told)
    await finish(ada)
    check_the_end(federation, ada, rounds=2)
    assert ada.charged == {("demo", 1): 1, ("demo", 2): 1}
    assert ada.summary.rounds_included >= 1  # the line of the first round may be missing


async def finish(ada: Ada) -> None:
    for moment in FINISH:
        ada.start(moment)
        await ada.died_of(moment)
    ada.start()
    assert await ada.ended() == 0
    ada.judge("at the end")


def check_the_end(federation: Federation, ada: Ada, rounds: int) -> None:
    points = {*ENROL, *SEND, *SETTLE, *FINISH}
    assert ada.tally.cases == {Case(point, ada.retried) for point in points}
    summary = ada.summary
    assert summary.rounds == rounds
    expected = federation.models["demo", rounds]
    assert summary.parameters_sha256 == sha256_of(encode_model(expected))


async def test_a_client_that_stays_away_for_a_round(federation: Federation, processes, tally):
    rounds = 2 + len(SEND) + 2 * len(SETTLE)
    await federation.start_run("demo", count=rounds, start_with=2)
    ada = await ada_of(federation, processes, tally, PLENTY, retried=False)
    for moment in ENROL:
        ada.start(moment)
        await ada.died_of(moment)
    await round_without_ada(federation)
    ada.start(SEND[0])
    await until(lambda: federation.has_joined(NAME), "Ada has joined")
    await round_without_ada(federation)
    await stay_away_while_sending(federation, ada)
    await stay_away_while_settling(federation, ada)
    await finish(ada)
    check_the_end(federation, ada, rounds)


async def round_without_ada(federation: Federation) -> tuple[str, ...]:
    """It was not hers, or its time passes; who is in it."""
    await federation.play_the_others()
    federation.let_time_pass()
    return await federation.settle()


async def stay_away_while_sending(federation: Federation, ada: Ada) -> None:
    for moment in SEND:
        if moment != SEND[0]:
            ada.start(moment)
        await ada.died_of(moment)
        has_left = bool(federation.uploads.announced[federation.bench.run, federation.round, NAME])
        is_in = NAME in await round_without_ada(federation)
        assert has_left == is_in == moment.startswith("Outbox.acknowledge")


async def stay_away_while_settling(federation: Federation, ada: Ada) -> None:
    for moment in SETTLE:
        ada.start()
        place = (federation.bench.run, federation.round, NAME)

        async def has_sent(place: tuple[str, int, str] = place) -> bool:
            return place in federation.uploads.acknowledged

        await until(has_sent, "Ada has sent her update")
        ada.trap.set(moment)
        await federation.play_the_others()
        assert NAME in await federation.settle()
        await ada.died_of(moment)
        assert NAME not in await round_without_ada(federation)


@pytest.mark.parametrize("retried", [True, False], ids=["with-retry", "without-retry"])
async def test_a_client_whose_budget_is_spent(federation: Federation, processes, tally, retried):
    """It has enough for one round, and is asked for a second in another run."""
    await federation.start_run("first", count=1, start_with=3)
    event = event_of(federation.bench.document.content)
    one = accountant_named("no-shuffle-rdp").guarantee(Rounds(event, 1), 1e-5).epsilon
    ada = await ada_of(federation, processes, tally, 1.2 * one, retried)
    ada.start()
    await federation.play_the_others()
    assert NAME in await federation.settle()
    assert await ada.ended() == 0
    await federation.start_run("second", count=1, start_with=3)
    (moment,) = REFUSE
    ada.start(moment)
    await ada.died_of(moment)
    if retried:
        ada.start()
        assert await ada.ended() == 3
        ada.judge("refused again")
    await federation.play_the_others()
    federation.let_time_pass()
    assert NAME not in await federation.settle()
    assert ada.charged == {("first", 1): 1}
    assert not federation.uploads.announced["second", 1, NAME]
