"""What a client does for a task is registered under the task's word; other words stop it."""

import pytest

from fedperm.errors import UnreachableError
from fedperm_client.errors import VersionError
from tests.client.confirming import Confirmed, confirmations_registered
from tests.client.documents import rounds
from tests.client.federation import drive, settled

pytestmark = pytest.mark.anyio


async def test_a_further_phase_is_a_handler_and_a_kind_of_submission(federation):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    by_ada, by_ben = Confirmed(), Confirmed()
    with (
        confirmations_registered(),
        ada.client(api=by_ada.api) as one,
        ben.client(api=by_ben.api) as two,
    ):
        await drive(federation, one, two)
    for home, confirmed in ((ada, by_ada), (ben, by_ben)):
        applied = {record.round: record.parameters_sha256 for record in home.summary.history}
        assert {number: confirmed.digest(number) for number in confirmed.bodies} == applied
        assert [len(bodies) for bodies in confirmed.bodies.values()] == [1, 1]
        assert home.summary.rounds_included == 2


async def test_a_submission_of_any_kind_is_sent_again_unchanged_after_a_crash(federation):
    """Each start draws another nonce: a submission that was made anew would be another one."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    confirmed = Confirmed(lost=2)
    with confirmations_registered(), ben.client() as two:
        for _ in range(2):
            with ada.client(api=confirmed.api) as one, pytest.raises(UnreachableError):
                await drive(federation, one, two)
        with ada.client(api=confirmed.api) as one:
            await drive(federation, one, two)
    (bodies,) = confirmed.bodies.values()
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


async def test_a_task_that_the_client_does_not_know_asks_for_an_upgrade_and_loses_nothing(
    federation,
):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    confirmed = Confirmed()
    with ben.client() as two:
        with ada.client(api=confirmed.api) as one:
            await drive(federation, one, two, rounds=1)
            await one.step()  # the report
            before = files_of(ada.state)
            for _ in range(2):
                with pytest.raises(VersionError, match=r"'confirm'.*upgrade this client"):
                    await one.step()
            assert settled(one) == 1
        assert files_of(ada.state) == before
        with confirmations_registered(), ada.client(api=confirmed.api) as upgraded:
            await drive(federation, upgraded, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert sorted(confirmed.bodies) == [1, 2]
    assert ada.charges == 2


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
