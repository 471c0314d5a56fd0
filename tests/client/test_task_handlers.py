"""What a client does for a task is registered under the task's word; other words stop it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fedperm.errors import UnreachableError
from fedperm_client.errors import VersionError
from tests.client.cut_line import request_of
from tests.client.documents import rounds
from tests.client.federation import Federation, drive, settled
from tests.keyserver.server import MovingClock
from tests.seams.confirming import asking_for_confirmations, clients_that_confirm
from tests.seams.test_second_phase import confirmations

pytestmark = pytest.mark.anyio


@pytest.fixture
def federation(tmp_path: Path) -> Iterator[Federation]:
    """With a phase that only tests know."""
    with asking_for_confirmations():
        federation = Federation(tmp_path, MovingClock())
        yield federation
        federation.close()


async def test_a_submission_of_any_kind_is_sent_again_unchanged_after_a_crash(federation):
    """Each start draws another nonce: a submission that was made anew would be another one."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben = await federation.line_homes("ada", "ben")
    ada.to_aggregator.before += [request_of("PUT", "/rounds/1/confirmations/ada")]
    with clients_that_confirm(), ben.client() as two:
        with ada.client() as one, pytest.raises(UnreachableError):
            await drive(federation, one, two)
        (prepared,) = ada.run_folder.rglob("*-confirmation-*.prepared")
        first = prepared.read_bytes()
        with ada.client() as one:
            await drive(federation, one, two)
    assert confirmations(ada, 1) == [first]
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


async def test_a_task_that_the_client_does_not_know_asks_for_an_upgrade_and_loses_nothing(
    federation,
):
    await federation.start_lines()
    ada, ben = await federation.line_homes("ada", "ben")
    with ben.client() as two:
        with ada.client() as one:
            await drive(federation, one, two, rounds=1)
            await one.step()  # the report
            await one.step()  # the checkpoint
            before = files_of(ada.state)
            for _ in range(2):
                with pytest.raises(VersionError, match=r"'confirm'.*upgrade this client"):
                    await one.step()
            assert settled(one) == 1
        assert files_of(ada.state) == before
        with clients_that_confirm(), ada.client() as upgraded:
            await drive(federation, upgraded, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256
    assert ada.charges == 2


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
