"""Slow clients, stops and ends of runs."""

import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import RoundState, RunState, TaskKind
from fedperm.wire.events import EventKind
from tests.aggregator.bench import Bench
from tests.aggregator.exactness import check_sum
from tests.aggregator.parties import OPERATOR, Client

pytestmark = pytest.mark.anyio


async def status(bench: Bench) -> tuple[RunState, str]:
    shown = await bench.api.run(bench.run, OPERATOR)
    return shown.state, shown.reason


async def pass_time(bench: Bench, seconds: float, clients: list[Client]) -> None:
    """Everybody stays online."""
    bench.clock.advance(seconds)
    await bench.beat(*clients)
    await bench.aggregator.tick()


async def test_a_round_does_not_wait_for_the_slow_beyond_its_deadline(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients[:2])
    await pass_time(opened, 59.9, clients)
    assert await opened.state(1) is RoundState.OPEN
    await pass_time(opened, 0.1, clients)
    assert await check_sum(opened, 1) == ("ada", "ben")
    assert (await opened.task(clients[2], settled=0)).kind == TaskKind.SETTLE


async def test_a_round_with_too_few_is_extended_and_then_complete(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    await pass_time(opened, 60, clients)
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert (report.extensions, report.deadline_at) == (1, opened.clock.now() + 20)
    await pass_time(opened, 10, clients)
    await opened.contribute(1, clients[1])
    await opened.aggregator.tick()
    assert await opened.state(1) is RoundState.OPEN  # the third may still come
    await pass_time(opened, 10, clients)
    assert await check_sum(opened, 1) == ("ada", "ben")


async def test_a_round_with_too_few_is_aborted_after_its_extensions_and_the_next_opens(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, clients[0])
    await pass_time(opened, 60, clients)
    await pass_time(opened, 20, clients)
    outcome = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert outcome.state is RoundState.ABORTED
    assert outcome.reason == "1 of 3 selected clients sent a valid update, 2 are needed"
    assert (outcome.included, outcome.aggregate) == ((), None)
    assert await status(opened) == (RunState.RUNNING, "")
    await opened.contribute(2, *clients)
    await opened.aggregator.tick()
    await check_sum(opened, 2)
    assert (await status(opened))[0] is RunState.COMPLETED


async def test_a_run_gives_up_after_so_many_aborted_rounds_in_a_row(
    opened: Bench, clients: list[Client]
):
    for _ in range(2):
        await pass_time(opened, 60, clients)
        await pass_time(opened, 20, clients)
    assert await status(opened) == (RunState.FAILED, "2 rounds in a row were aborted")
    assert (await opened.task(clients[0], settled=0)).round == 1
    assert (await opened.task(clients[0], settled=2)).kind == TaskKind.FINISH
    with pytest.raises(RefusedError) as caught:
        await opened.api.resume(opened.run, OPERATOR)
    assert caught.value.status == 409
    assert (await opened.api.stop(opened.run, OPERATOR)).state is RunState.FAILED


async def test_a_published_round_in_between_starts_the_count_anew(
    bench: Bench, clients: list[Client]
):
    await bench.create(rounds={"count": 5, "extensions": 0})
    await bench.join(*clients)
    await bench.aggregator.tick()
    for number in (1, 2, 3, 4):
        if number % 2 == 0:
            await bench.contribute(number, *clients)
        await pass_time(bench, 60, clients)
    assert [(await bench.state(n)).value for n in (1, 2, 3, 4)] == [
        "aborted",
        "published",
        "aborted",
        "published",
    ]
    assert (await status(bench))[0] is RunState.RUNNING


async def test_a_run_says_what_it_waits_for(bench: Bench, clients: list[Client]):
    await bench.create(epochs=0)
    await bench.aggregator.tick()
    assert await status(bench) == (RunState.WAITING, "waits for a key epoch")
    await bench.put_epoch(1)
    await bench.join(*clients[:2])
    await bench.aggregator.tick()
    assert await status(bench) == (RunState.WAITING, "waits for clients: 2 of 3 online")
    await bench.join(clients[2])
    await bench.aggregator.tick()
    assert await status(bench) == (RunState.RUNNING, "")


async def test_between_rounds_a_run_waits_for_clients_that_went_away(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients)
    opened.clock.advance(31)
    await opened.beat(clients[0])
    await opened.aggregator.tick()
    assert await status(opened) == (RunState.WAITING, "waits for clients: 1 of 2 online")
    await opened.beat(clients[1])
    await opened.aggregator.tick()
    outcome = await opened.api.outcome(opened.run, 2, OPERATOR)
    assert outcome.selected == ("ada", "ben")


async def test_a_stopped_run_finishes_its_round_and_goes_on_when_resumed(
    opened: Bench, clients: list[Client]
):
    assert (await opened.api.stop(opened.run, OPERATOR)).state is RunState.STOPPED
    assert (await opened.api.stop(opened.run, OPERATOR)).state is RunState.STOPPED
    assert (await opened.task(clients[0])).kind == TaskKind.TRAIN
    await opened.contribute(1, *clients)
    await opened.aggregator.tick()
    await check_sum(opened, 1)
    assert await status(opened) == (RunState.STOPPED, "stopped by the operator")
    waiting = await opened.task(clients[0], settled=1)
    assert (waiting.kind, waiting.run_state) == (TaskKind.WAIT, RunState.STOPPED)
    await opened.api.resume(opened.run, OPERATOR)
    await opened.aggregator.tick()
    assert (await opened.task(clients[0], settled=1)).kind == TaskKind.TRAIN
    told = [e.event for e in opened.aggregator.events.of_run(opened.run, 0)]
    assert told.count(EventKind.RUN_STOPPED) == told.count(EventKind.RUN_RESUMED) == 1


async def test_a_run_resumed_in_the_middle_of_a_round_is_running(opened: Bench):
    await opened.api.stop(opened.run, OPERATOR)
    assert (await opened.api.resume(opened.run, OPERATOR)).state is RunState.RUNNING


async def test_a_clock_that_is_set_back_ends_no_round_and_loses_nobody(
    opened: Bench, clients: list[Client]
):
    await opened.contribute(1, *clients[:2])
    opened.clock.advance(-3600)
    await opened.aggregator.tick()
    assert await opened.state(1) is RoundState.OPEN
    await opened.contribute(1, clients[2])
    await opened.aggregator.tick()
    assert await check_sum(opened, 1) == ("ada", "ben", "cleo")
    report = await opened.api.round_report(opened.run, 1, OPERATOR)
    assert report.seconds.open == 0
