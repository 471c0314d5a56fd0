"""The aggregator dies at every moment at which it has written something, or is about to."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from fedperm.errors import RefusedError
from fedperm.wire.aggregator import ClientReport, ClientSeconds, KeyEpoch, RoundState, RunState
from fedperm.wire.digest import sha256_of
from tests.aggregator import test_checkpoints as checkpoints
from tests.aggregator.bench import quick_folder
from tests.aggregator.parties import MODEL, OPERATOR, Client
from tests.crash_points.aftermath import has_job_at_work
from tests.crash_points.factor import with_factor
from tests.crash_points.mortal import until
from tests.crash_points.mortal_aggregator import (
    CLIENTS,
    DEADLINE_SECONDS,
    CountedRun,
    MortalAggregator,
)
from tests.crash_points.nursery import PATIENCE_SECONDS
from tests.crash_points.points import ROUND, SETTING_UP, TROUBLE
from tests.crash_points.promises import Promises
from tests.crash_points.tally import Case

pytestmark = [pytest.mark.anyio, pytest.mark.system]


@pytest.fixture(params=[True, False], ids=["with-retry", "without-retry"])
async def aggregator(request, servers, tally):
    with quick_folder() as folder:
        aggregator = MortalAggregator(servers, folder, tally, retried=request.param)
        yield aggregator
        await aggregator.close()


def check_all_were_tried(aggregator: MortalAggregator, matrix: dict[str, tuple[str, ...]]) -> None:
    points = {point for points in matrix.values() for point in points}
    assert aggregator.tally.cases == {Case(point, aggregator.retried) for point in points}


class SettingUp:
    """Each moment has a run or a client of its own; what was answered is noted."""

    def __init__(self, aggregator: MortalAggregator) -> None:
        self._aggregator = aggregator
        self._names = count(1)
        self.promises = Promises()

    def run(self) -> CountedRun:
        run = CountedRun(self._aggregator, f"run-{next(self._names)}")
        run.write_document()
        return run

    async def created(self) -> CountedRun:
        run = self.run()
        await run.api.create_run(run.document, OPERATOR)
        return run

    async def each(
        self,
        step: str,
        ask: Callable[[int], Awaitable[Any]],
        holds: Callable[[int], Awaitable[bool]],
    ) -> None:
        """Dies at every moment of the step; what was answered in the end must hold."""
        for number, moment in enumerate(SETTING_UP[step]):
            answer = await self._aggregator.die_of(moment, lambda n=number: ask(n))
            if answer is not None:
                self.promises.add(f"{step}: {moment}", lambda n=number: holds(n))


async def test_a_run_is_set_up(aggregator: MortalAggregator):
    await aggregator.start_mortally(SETTING_UP["tables"])
    story = SettingUp(aggregator)
    await set_up_runs(story)
    await set_up_one(story)
    await stop_runs(story)
    aggregator.tally.lost += await story.promises.broken()
    check_all_were_tried(aggregator, SETTING_UP)


async def set_up_runs(story: SettingUp) -> None:
    runs = [story.run() for _ in SETTING_UP["run"]]

    async def is_there(number: int) -> bool:
        return (await runs[number].api.document(runs[number].run, OPERATOR)).sha256 == (
            runs[number].document.sha256
        )

    await story.each("run", lambda n: runs[n].api.create_run(runs[n].document, OPERATOR), is_there)
    for step in ("model", "wait"):
        await put_models(story, step)


async def put_models(story: SettingUp, step: str) -> None:
    """The model changes what the run waits for: that is written down too."""
    runs = [await story.created() for _ in SETTING_UP[step]]

    async def is_there(number: int) -> bool:
        return await runs[number].api.initial_model(runs[number].run, OPERATOR) == MODEL

    def put(number: int) -> Awaitable[Any]:
        return runs[number].api.put_initial_model(runs[number].run, MODEL, OPERATOR)

    await story.each(step, put, is_there)


async def set_up_one(story: SettingUp) -> None:
    run = await story.created()

    async def participants(*, excluded: bool) -> set[str]:
        listed = (await run.api.participants(run.run, OPERATOR)).participants
        return {one.client for one in listed if one.excluded is excluded}

    async def has_epoch(number: int) -> bool:
        return (await run.api.run(run.run, OPERATOR)).epoch > number

    async def has_joined(number: int) -> bool:
        return CLIENTS[number].name in await participants(excluded=False)

    async def is_excluded(number: int) -> bool:
        return CLIENTS[number + 2].name in await participants(excluded=True)

    records = [KeyEpoch(record=run.server.epoch(epoch)) for epoch in (1, 2)]

    def put_epoch(number: int) -> Awaitable[Any]:
        return run.api.put_key_epoch(run.run, number + 1, records[number], OPERATOR)

    await story.each("epoch", put_epoch, has_epoch)
    await story.each("join", lambda n: join(run, n), has_joined)
    await run.join(*CLIENTS[2:4])
    await story.each(
        "exclude", lambda n: run.api.exclude(run.run, CLIENTS[n + 2].name, OPERATOR), is_excluded
    )


async def stop_runs(story: SettingUp) -> None:
    """Two of them go on."""
    stopped = [await story.created() for _ in SETTING_UP["stop"]]
    resumed = [await story.created() for _ in SETTING_UP["resume"]]

    async def is_stopped(run: CountedRun) -> bool:
        return (await run.api.run(run.run, OPERATOR)).state is RunState.STOPPED

    async def goes_on(number: int) -> bool:
        return not await is_stopped(resumed[number])

    async def stop_and_resume(run: CountedRun) -> Any:
        await run.api.stop(run.run, OPERATOR)
        return await run.api.resume(run.run, OPERATOR)

    await story.each(
        "stop",
        lambda n: stopped[n].api.stop(stopped[n].run, OPERATOR),
        lambda n: is_stopped(stopped[n]),
    )
    await story.each("resume", lambda n: stop_and_resume(resumed[n]), goes_on)


async def join(run: CountedRun, u: int) -> str:
    await run.join(CLIENTS[u])
    return CLIENTS[u].name


async def test_a_round_goes_from_its_opening_to_its_scrubbing(aggregator: MortalAggregator):
    await aggregator.start()
    run = CountedRun(aggregator, "counted")
    await run.create(**run.settings)
    await run.join(*CLIENTS[:9])
    await aggregator.die_in_turn(ROUND["open"], lambda: join(run, 9), lambda: join(run, 9))
    await run.until_state(1, RoundState.OPEN)
    for u, moment in enumerate(ROUND["upload"]):
        await aggregator.die_of(moment, lambda u=u: run.contribute_one(u, 1))
    await aggregator.die_in_turn(
        ROUND["check"], lambda: run.contribute_one(7, 1), lambda: run.send_again(1, 0, 7)
    )
    await send_factors_and_fold(aggregator, run)
    outcome = await run.check_published(1)
    liars = {CLIENTS[8].name, CLIENTS[9].name}
    assert not liars & set(outcome.included)
    listed = (await run.api.participants(run.run, OPERATOR)).participants
    assert {one.client for one in listed if one.excluded} == liars
    await report(aggregator, run)
    contributors = [client for client in CLIENTS if client.name in outcome.included]
    await offer_checkpoints(aggregator, run, contributors)
    await complete(aggregator, run)
    check_all_were_tried(aggregator, ROUND)


async def send_factors_and_fold(aggregator: MortalAggregator, run: CountedRun) -> None:
    """Two clients send a factor of the key. Then the deadline passes, for the sake of those who
    never came back; from there on nobody has to ask for anything."""
    run.sent |= {(1, CLIENTS[u].name): with_factor(run, CLIENTS[u], 1) for u in (8, 9)}
    *first, removal = ROUND["factor"]
    await aggregator.die_in_turn(
        first, lambda: run.contribute_one(8, 1), lambda: run.send_again(1, 0, 8)
    )

    async def last_upload() -> None:
        try:
            await run.contribute_one(9, 1)
        finally:
            aggregator.clock.advance(DEADLINE_SECONDS + 1)

    aggregator.toll.set(2.0)  # progress is told once a second
    moments = [first[-2], removal, *ROUND["seal"], *ROUND["start"], *ROUND["fold"], *ROUND["scrub"]]
    await aggregator.die_in_turn(moments, last_upload, lambda: run.send_again(1, 0, 9))
    aggregator.toll.set(0.0)


async def report(aggregator: MortalAggregator, run: CountedRun) -> None:
    seconds = ClientSeconds(train=1.0, randomize=0.0, encrypt=0.0, upload=0.0, decrypt=0.0)
    message = ClientReport(seconds=seconds, bytes_up=1, bytes_down=2)
    told: set[str] = set()

    async def tell(u: int) -> None:
        client = CLIENTS[u]
        await run.api.report(run.run, 1, client.name, message, run.server.token(client))
        told.add(client.name)

    for u, moment in enumerate(ROUND["report"]):
        await aggregator.die_of(moment, lambda u=u: tell(u))
    kept = [one.client for one in (await run.api.round_report(run.run, 1, OPERATOR)).reports]
    aggregator.tally.lost += [f"the report of {client}" for client in told - set(kept)]
    assert len(kept) == len(set(kept))


async def offer_checkpoints(
    aggregator: MortalAggregator, run: CountedRun, contributors: list[Client]
) -> None:
    """Every moment has an epoch of its own to seal for. What was taken is on offer, and whole."""
    for client, moment in zip(contributors, ROUND["vouch"], strict=False):
        await aggregator.die_of(moment, lambda c=client: said(run, c, 1))
    for epoch, moment in enumerate(ROUND["checkpoint"], 2):
        assert [await said(run, client, epoch) for client in contributors][-1] == "wanted"
        taken = await aggregator.die_of(moment, lambda e=epoch: sent(run, contributors[-1], e))
        if taken:
            offer = await run.api.checkpoint(run.run, OPERATOR)
            octets = await run.api.sealed_checkpoint(run.run, offer.sha256, OPERATOR)
            if (offer.epoch, octets) != (epoch, checkpoints.sealed(run, epoch)):
                aggregator.tally.lost.append(f"{moment}: the checkpoint that was taken")


async def said(run: CountedRun, client: Client, epoch: int) -> str:
    body = checkpoints.sealed(run, epoch)
    wanted = await checkpoints.vouch(run, client, body, epoch=epoch)
    return "wanted" if wanted else "heard"


async def sent(run: CountedRun, client: Client, epoch: int) -> str:
    try:
        await checkpoints.send(run, client, checkpoints.sealed(run, epoch))
    except RefusedError as refusal:
        if refusal.status != 410:
            raise
    return "taken"  # now, or before an answer was lost


async def complete(aggregator: MortalAggregator, run: CountedRun) -> None:
    await run.until_state(2, RoundState.OPEN)
    for u in range(7):
        await run.contribute_one(u, 2)
    await aggregator.die_in_turn(
        ROUND["complete"], lambda: run.contribute_one(7, 2), lambda: run.send_again(2, 0, 7)
    )
    await run.check_published(2)
    assert (await run.api.run(run.run, OPERATOR)).state is RunState.COMPLETED


async def test_trouble(aggregator: MortalAggregator):
    await aggregator.start()
    run = CountedRun(aggregator, "troubled", count=5, clients_per_round=3, start_with=3)
    await run.create(**run.settings)
    await run.join(*CLIENTS[:3])
    await decline(aggregator)
    await run.until_state(1, RoundState.OPEN)
    await keep_presence(aggregator, run)
    await keep_leases(aggregator, run)
    await run.contribute_one(2, 1)
    await run.check_published(1)
    await fail_to_fold(aggregator, run)
    await miss_the_deadline(aggregator, run)
    check_all_were_tried(aggregator, TROUBLE)


async def decline(aggregator: MortalAggregator) -> None:
    """Two clients of another run, of which both must be remembered if they were answered."""
    run = CountedRun(aggregator, "declined", clients_per_round=4, start_with=4)
    await run.create(**run.settings)
    await run.join(*CLIENTS[:4])
    await run.until_state(1, RoundState.OPEN)
    newer, told = KeyEpoch(record=run.server.epoch(2)), set()

    async def tell(u: int) -> None:
        client = CLIENTS[u]
        await run.api.decline(run.run, 1, client.name, newer, run.server.token(client))
        told.add(client.name)

    for u, moment in enumerate(TROUBLE["decline"]):
        await aggregator.die_of(moment, lambda u=u: tell(u))
    updates = (await run.api.round_report(run.run, 1, OPERATOR)).updates
    kept = {one.client for one in updates if one.state == "rejected"}
    aggregator.tally.lost += [f"the decline of {client}" for client in told - kept]
    assert not told or (await run.api.run(run.run, OPERATOR)).epoch == 2
    await run.api.stop(run.run, OPERATOR)
    for u in (0, 1):
        await tell(u)  # whoever was not heard: nobody is waited for, and the run rests
    for u in (2, 3):
        await run.contribute_one(u, 1)
    await run.check_published(1)


async def keep_presence(aggregator: MortalAggregator, run: CountedRun) -> None:
    async def beat() -> None:
        await run.beat(CLIENTS[0])
        aggregator.clock.advance(6)

    for moment in TROUBLE["presence"]:
        await aggregator.die_of(moment, beat)


async def keep_leases(aggregator: MortalAggregator, run: CountedRun) -> None:
    """A job takes longer than the aggregator lives: once it is killed, once it is asked to end."""
    aggregator.pace.set(0.5)
    await aggregator.die_in_turn(
        TROUBLE["lease"], lambda: run.contribute_one(0, 1), lambda: run.send_again(1, 0)
    )
    aggregator.pace.set(30.0)
    await aggregator.attempt(lambda: run.contribute_one(1, 1))
    for moment in TROUBLE["stop"]:
        await until(lambda: is_at_work(aggregator), "a job is at work")
        aggregator.trap.set(moment)
        aggregator.process.ask_to_stop()
        await aggregator.died_of(moment)
        await aggregator.start()
        if aggregator.retried:
            await run.send_again(1, 0, 1)
    aggregator.pace.set(0.0)
    aggregator.process.ask_to_stop()  # whoever waits is given back
    assert aggregator.process.wait(PATIENCE_SECONDS) == 0
    await aggregator.start()


async def is_at_work(aggregator: MortalAggregator) -> bool:
    """Of this process: one that answers has freed what the former held."""
    await aggregator.http.get("/healthz")
    return has_job_at_work(aggregator.state)


async def fail_to_fold(aggregator: MortalAggregator, run: CountedRun) -> None:
    """A stored upload is damaged on the disk. If its sender sent it again it would be whole
    again; nobody does."""
    await run.until_state(2, RoundState.OPEN)
    await run.contribute_one(0, 2)
    await run.contribute_one(1, 2)
    aggregator.damaged = CLIENTS[0].name
    digest = sha256_of(run.sent[2, CLIENTS[0].name].body)
    uploads = aggregator.state / "runs" / run.run / "rounds" / "2" / "uploads"
    await until(lambda: is_checked(run, 2), "both are checked")
    (uploads / f"{CLIENTS[0].name}.{digest}.safetensors").write_bytes(b"damaged")
    await aggregator.die_in_turn(
        TROUBLE["failure"], lambda: run.contribute_one(2, 2), lambda: run.send_again(2, 1, 2)
    )
    outcome = await run.until_state(2, RoundState.ABORTED)
    assert (outcome.aggregate, outcome.included) == (None, ())


async def is_checked(run: CountedRun, number: int) -> bool:
    updates = (await run.api.round_report(run.run, number, OPERATOR)).updates
    return all(update.state == "valid" for update in updates)


async def miss_the_deadline(aggregator: MortalAggregator, run: CountedRun) -> None:
    await run.until_state(3, RoundState.OPEN)
    await run.contribute_one(0, 3)

    async def be_late() -> None:
        aggregator.clock.advance(DEADLINE_SECONDS + 1)

    extend, abort = TROUBLE["deadline"][:2], TROUBLE["deadline"][2:]
    await aggregator.die_in_turn(extend, be_late, lambda: run.send_again(3, 0))
    await aggregator.die_in_turn((*abort, *TROUBLE["end"]), be_late, lambda: run.send_again(3, 0))
    await run.until_state(3, RoundState.ABORTED)
    assert (await run.api.run(run.run, OPERATOR)).state is RunState.FAILED
