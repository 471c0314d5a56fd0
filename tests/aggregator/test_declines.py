"""A client that sends nothing for a round under an outdated key, and brings the newer epoch."""

import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import KeyEpoch, RoundState, SubmissionState, TaskKind
from fedperm.wire.signed import sign, unverified
from fedperm.wire.statements import EpochRecord
from tests.aggregator.bench import Bench
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio


async def decline(bench: Bench, client: Client, record: str | None = None, number: int = 1) -> None:
    newer = KeyEpoch(record=bench.server.epoch(2) if record is None else record)
    token = bench.server.token(client)
    await bench.api.decline(bench.run, number, client.name, newer, token)


async def refused(bench: Bench, client: Client, record: str) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await decline(bench, client, record)
    assert (await bench.api.run(bench.run, OPERATOR)).epoch == 1
    return caught.value.status, caught.value.kind


async def test_who_declines_is_asked_no_more_and_the_others_are_counted(opened: Bench, clients):
    ada, ben, cleo = clients
    await decline(opened, ada)
    await decline(opened, ada)
    assert (await opened.task(ada)).kind == TaskKind.WAIT
    await opened.contribute(1, ben, cleo)
    await opened.aggregator.tick()
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert (outcome.state, outcome.included) == (RoundState.PUBLISHED, ("ben", "cleo"))
    assert (await opened.api.outcome(opened.run, 2, OPERATOR)).epoch == 2


async def test_the_operator_is_told_why(opened: Bench, clients):
    await decline(opened, clients[0])
    (told,) = (await opened.api.round_report(opened.run, 1, OPERATOR)).updates
    assert (told.client, told.state, told.size) == ("ada", SubmissionState.REJECTED, 0)
    assert told.reason == "declined: the key has epoch 2, and the round is under 1"
    events = opened.aggregator.events.of_run(opened.run, 0)
    assert [(e.event, e.client) for e in events[-2:]] == [
        ("key-epoch", "ada"),
        ("submission-checked", "ada"),
    ]


async def test_a_round_that_all_decline_is_aborted_and_the_next_is_under_the_new_key(
    opened: Bench, clients
):
    for client in clients:
        await decline(opened, client)
    await opened.aggregator.tick()
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    task = await opened.task(clients[0], settled=1)
    assert (task.kind, task.round, task.epoch) == (TaskKind.TRAIN, 2, 2)


async def test_who_has_sent_its_update_cannot_take_it_back(opened: Bench, clients):
    await opened.contribute(1, clients[0])
    await decline(opened, clients[0])
    await opened.contribute(1, *clients[1:])
    await opened.aggregator.tick()
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.included == ("ada", "ben", "cleo")


async def test_a_decline_that_comes_late_leaves_the_round_as_it_is(opened: Bench, clients):
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    before = await opened.api.round_report(opened.run, 1, OPERATOR)
    await decline(opened, clients[0])
    assert await opened.api.round_report(opened.run, 1, OPERATOR) == before
    assert (await opened.api.run(opened.run, OPERATOR)).epoch == 2


async def test_only_a_newer_epoch_of_the_runs_key_is_a_reason(opened: Bench, clients):
    ada, server = clients[0], opened.server
    forged = sign(unverified(server.epoch(2), EpochRecord), ada.signing)
    assert await refused(opened, ada, server.epoch(1)) == (409, "conflict")
    assert await refused(opened, ada, server.epoch(2, key="other")) == (422, "untrusted")
    assert await refused(opened, ada, forged) == (422, "untrusted")
    assert (await opened.task(ada)).kind == TaskKind.TRAIN


async def test_who_has_not_joined_declines_nothing(opened: Bench):
    with pytest.raises(RefusedError, match="has not joined") as caught:
        await decline(opened, Client("zoe"))
    assert caught.value.status == 404
    assert (await opened.api.run(opened.run, OPERATOR)).epoch == 1
