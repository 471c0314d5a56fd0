"""A client sends nothing for a round before the key server has named its key as the newest."""

import pytest

from fedperm.errors import UnreachableError
from fedperm.wire.aggregator import RoundState, SubmissionState
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.client.cut_line import request_of
from tests.client.documents import LINES, lines_document, rounds
from tests.client.federation import KEY, Federation, Home, drive, settled
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

pytestmark = pytest.mark.anyio

UPLOAD = request_of("PUT", "/updates/ada")


def questions(home: Home) -> int:
    return len(
        home.to_key_server.sent(
            lambda request: "/newest-epoch/" in request.url.path and request.method == "GET"
        )
    )


async def rotate(federation: Federation, epoch: int = 2) -> None:
    """Nobody tells the run."""
    await federation.key_server.api.create_epoch(KEY, epoch, KEY_OPERATOR)


async def test_a_client_asks_once_for_each_round_that_it_sends_something_for(federation):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.after.append(UPLOAD)
    with ada.client() as one, ben.client() as two:
        with pytest.raises(UnreachableError):
            await drive(federation, one, two)
        await drive(federation, one, two)
    assert len(ada.to_aggregator.sent(UPLOAD)) >= 2
    assert (questions(ada), questions(ben)) == (2, 2)


async def test_a_round_under_an_older_key_is_declined_and_the_run_gets_the_newer_one(federation):
    """The operator of the second run sleeps: its first round is lost, and no charge with it."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = homes = await federation.line_homes("ada", "ben")
    await rotate(federation)
    await federation.put_epoch(2)
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    await federation.start_run(LINES, lines_document(run="second"), epoch=1)
    with ada.client(run="second") as one, ben.client(run="second") as two:
        await drive(federation, one, two)
    first, second = await reports(federation, "second")
    assert first.outcome.state is RoundState.ABORTED
    assert {update.state for update in first.updates} == {SubmissionState.REJECTED}
    assert all("the key has epoch 2" in update.reason for update in first.updates)
    assert (second.outcome.state, second.outcome.epoch) == (RoundState.PUBLISHED, 2)
    assert [home.charges for home in homes] == [2, 2]


async def test_a_declined_round_is_not_waited_for(federation, clock):
    """All were asked and none will send: it is over before its deadline."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    await rotate(federation)
    started = clock.time
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
    assert clock.time == started
    (first, *_) = await reports(federation, "demo")
    assert first.outcome.state is RoundState.ABORTED


async def test_what_was_prepared_before_a_rotation_is_not_sent_after_it(federation):
    """The client ends with its update on disk; when it is back, the key is another one."""
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.before.append(UPLOAD)
    with ben.client() as two:
        with ada.client() as one, pytest.raises(UnreachableError):
            await drive(federation, one, two)
        await rotate(federation)
        with ada.client() as one:
            await drive(federation, one, two, rounds=1)
            assert not ada.to_aggregator.sent(UPLOAD)
            await drive(federation, one, two)
    assert {record.epoch for record in ada.summary.history if record.included} == {2}


async def test_without_word_from_the_key_server_nothing_is_sent(federation):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
        ada.to_key_server.before += [lambda request: "/newest-epoch/" in request.url.path] * 3
        for _ in range(3):
            with pytest.raises(UnreachableError):
                await drive(federation, one, two)
        assert (settled(one), len(ada.uploads(2)), ada.charges) == (1, 0, 1)
        await drive(federation, one, two)
    assert ada.charges == 2


async def reports(federation: Federation, run: str):
    return (await federation.aggregator.api.rounds(run, RUN_OPERATOR)).rounds
