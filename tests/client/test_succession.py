"""The key server changes its signing identity: runs end under the one that they name, and clients
follow it forward and not back."""

import pytest

from fedperm.errors import RefusedError
from fedperm.randomness import from_operating_system
from fedperm.wire.aggregator import KeyEpoch
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.vault import key_encryption_key
from tests.client.documents import LINES, lines_document, rounds
from tests.client.federation import KEY, RUN_OPERATOR, Federation, Home, _line, drive
from tests.keyserver.server import KEK, Server
from tests.keyserver.server import OPERATOR as KEY_OPERATOR

pytestmark = pytest.mark.anyio


def succeed(federation: Federation, *homes: Home) -> str:
    """The key server is stopped, gets a new identity and is started again. The old fingerprint."""
    before = federation.key_server
    root_keys = RootKeys(before.beside(), federation.clock, from_operating_system())
    root_keys.succeed(key_encryption_key(KEK))
    before.close()
    federation.key_server = Server(federation.folder / "keyserver", federation.clock)
    for home in homes:
        home.to_key_server = _line(federation.key_server.app)
    return before.authority.identity.fingerprint


async def test_a_run_ends_under_the_identity_that_it_names(federation):
    """With an epoch that was made since, in clients that were started since."""
    await federation.start_lines(rounds=rounds(count=3))
    ada, ben = homes = await federation.line_homes("ada", "ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two, rounds=1)
    old = succeed(federation, *homes)
    api = federation.key_server.api
    await api.create_epoch(KEY, 2, KEY_OPERATOR)
    record = (await api.epoch(KEY, 2, old)).record
    await federation.aggregator.api.put_key_epoch("demo", 2, KeyEpoch(record=record), RUN_OPERATOR)
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    assert len({home.summary.parameters_sha256 for home in homes}) == 1
    assert {record.epoch for record in ada.summary.history} == {1, 2}


async def test_who_enrolled_before_and_who_enrolled_since_take_part_in_a_new_run(federation):
    """Ben's token is from before: it leads to the new identity all the same."""
    await federation.start_lines(rounds=rounds(count=1))
    ada, ben, cleo = homes = await federation.line_homes("ada", "ben", "cleo")
    with ada.client() as one, cleo.client() as three:
        await drive(federation, one, three)
    succeed(federation, *homes)
    newest = federation.key_server.authority.identity.fingerprint
    record = (await federation.key_server.api.epoch(KEY, 1, newest)).record
    await start_without_epoch(federation, lines_document(run="second", rounds=rounds(count=1)))
    await federation.aggregator.api.put_key_epoch(
        "second", 1, KeyEpoch(record=record), RUN_OPERATOR
    )
    with ada.client(run="second") as one, ben.client(run="second") as two:
        await drive(federation, one, two)
    assert ada.summary.parameters_sha256 == ben.summary.parameters_sha256


async def start_without_epoch(federation: Federation, content) -> None:
    """Its records are not signed by the newest identity unless that is asked for."""

    async def nothing(_epoch: int, _run: str) -> None:
        pass

    federation.put_epoch = nothing
    await federation.start_run(LINES, content)


async def test_who_enrolled_since_takes_no_part_in_a_run_from_before(federation):
    """The old key may have been given up because somebody stole it. It asks for no token that the
    run would take."""
    await federation.start_lines()
    (ada,) = await federation.line_homes("ada")
    succeed(federation, ada)
    with (
        ada.client() as late,
        pytest.raises(RefusedError, match="not from the run's key server"),
    ):
        await drive(federation, late)
