"""What the page knows is the same, be it from an aggregator's stores or over its interface."""

import pytest

from fedperm.errors import UnknownResourceError, UntrustedError
from fedperm.wire.aggregator import KeyEpoch, KeyEpochs
from fedperm.wire.statements import EpochRecord
from fedperm_aggregator.records import FoldProgress
from fedperm_cli.dashboard import remote_runs
from tests.aggregator.bench import Bench
from tests.aggregator.gated import gated
from tests.aggregator.parties import OPERATOR, Client, KeyServer
from tests.aggregator.test_events import whole_run
from tests.client.cut_line import CutLine, request_of
from tests.dashboard.places import Place, at_the_operator, transport_to

pytestmark = pytest.mark.anyio


async def test_runs_are_the_interfaces(opened: Bench, place: Place, clients: list[Client]):
    await whole_run(opened, clients)
    source, run = place.dashboard.source, opened.run
    assert tuple(await source.runs()) == (await opened.api.runs(OPERATOR)).runs
    assert await source.status(run) == await opened.api.run(run, OPERATOR)
    assert (await source.document(run)).octets == opened.document.octets
    listed = await opened.api.participants(run, OPERATOR)
    assert tuple(await source.participants(run)) == listed.participants


async def test_rounds_are_the_interfaces_few_or_many(
    opened: Bench, place: Place, clients: list[Client], monkeypatch: pytest.MonkeyPatch
):
    await whole_run(opened, clients)
    source, run = place.dashboard.source, opened.run
    one, two = (await opened.api.rounds(run, OPERATOR)).rounds
    for most in (remote_runs._FEW, 0):
        monkeypatch.setattr(remote_runs, "_FEW", most)
        assert list(await source.rounds(run, [1, 2])) == [one, two]
        assert list(await source.rounds(run, [2])) == [two]
    assert list(await source.rounds(run, [])) == []


async def test_key_epochs_are_those_that_the_key_server_signed(opened: Bench, place: Place):
    source, run = place.dashboard.source, opened.run
    first = await source.epoch(run, 1)
    assert isinstance(first, EpochRecord)
    assert first.key_id == opened.pair(1).public_key.key_id
    await opened.put_epoch(2)
    assert (await source.epoch(run, 2)).key_id == opened.pair(2).public_key.key_id
    with pytest.raises(UnknownResourceError):
        await source.epoch(run, 3)


async def test_a_key_that_another_key_server_signed_is_not_shown(opened: Bench):
    """An aggregator that lies to the operator."""
    other = KeyServer(opened.clock, opened.server.pairs)
    forged = KeyEpochs(epochs=(KeyEpoch(record=other.epoch(1)),)).model_dump_json().encode()
    line = CutLine(transport_to(opened))
    line.forgeries.append((request_of("GET", "/key-epochs"), lambda _: forged))
    async with at_the_operator(opened, line) as place:
        with pytest.raises(UntrustedError):
            await place.dashboard.source.epoch(opened.run, 1)


async def test_from_every_position_the_rounds_that_changed_since(
    opened: Bench, place: Place, clients: list[Client]
):
    await whole_run(opened, clients)
    await place.caught_up()
    events = opened.aggregator.events.of_run(opened.run, 0)
    for after in [0, *(event.id for event in events)]:
        changes = await place.dashboard.source.changes(opened.run, after)
        assert changes.rounds == {e.round for e in events if e.id > after and e.round}
        assert changes.position == events[-1].id
    assert await place.dashboard.source.position(opened.run) == events[-1].id


async def test_how_far_a_fold_is(opened: Bench, place: Place, clients: list[Client]):
    await opened.contribute(1, *clients)
    background = opened.aggregator.services.background
    await background.tick()
    await background.drain()
    assert (await place.dashboard.source.changes(opened.run, 0)).fold is None
    async with gated(opened.aggregator) as gate:
        await background.tick()
        gate.wait_for_work()
        opened.aggregator.events.progress(FoldProgress(opened.run, 1, "fold", 2, 3), 1.0)
        await place.caught_up()
        fold = (await place.dashboard.source.changes(opened.run, 0)).fold
    assert (fold.round, fold.phase, fold.done, fold.total) == (1, "fold", 2, 3)


async def test_an_unknown_run_is_refused(place: Place):
    for ask in (place.dashboard.source.document, place.dashboard.source.status):
        with pytest.raises(UnknownResourceError):
            await ask("unknown")
