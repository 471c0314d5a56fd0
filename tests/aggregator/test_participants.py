"""Joining, being online, and waiting for a task."""

import asyncio
import time
from collections import Counter

import pytest

from fedperm.crash_points import watching
from fedperm.errors import RefusedError
from fedperm.protocol import PROTOCOL
from fedperm.run_document import RoundsSpec
from fedperm.wire.aggregator import (
    MOST_ROUNDS,
    Heartbeat,
    Participation,
    Phase,
    RunState,
    Task,
    TaskKind,
)
from fedperm_aggregator.long_poll import LOOK_SECONDS
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.parties import OPERATOR, Client, KeyServer, ManualClock

pytestmark = pytest.mark.anyio

LOOK = "RoundStore.progress.done"


async def refusal(coroutine) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        await coroutine
    return caught.value.status, caught.value.kind


async def put_join(bench: Bench, client: Client) -> int:
    response = await bench.aggregator.http.put(
        f"/v1/runs/{bench.run}/participants/{client.name}",
        json={"document": bench.document.sha256, "protocol": PROTOCOL},
        headers={"Authorization": f"Bearer {bench.server.token(client)}"},
    )
    return response.status_code


async def test_a_client_of_another_version_is_told_both(bench: Bench, clients: list[Client]):
    """One of the first version says nothing of it."""
    await bench.create()
    token = bench.server.token(clients[0])
    for message, spoken in (
        (Participation(document=bench.document.sha256), "fedperm/1"),
        (Participation(document=bench.document.sha256, protocol="fedperm/9"), "fedperm/9"),
    ):
        with pytest.raises(RefusedError, match=f"speaks {spoken}, this aggregator {PROTOCOL}"):
            await bench.api.join(bench.run, clients[0].name, message, token)


async def test_a_client_joins_once(bench: Bench, clients: list[Client]):
    await bench.create()
    assert await put_join(bench, clients[0]) == 201
    assert await put_join(bench, clients[0]) == 200
    (joined,) = (await bench.api.participants(bench.run, OPERATOR)).participants
    assert (joined.client, joined.online, joined.excluded) == ("ada", True, False)
    assert joined.joined_at == joined.last_seen_at == bench.clock.now()
    assert (await bench.api.run(bench.run, OPERATOR)).participants == 1


async def test_whoever_read_another_document_cannot_join(bench: Bench, clients: list[Client]):
    await bench.create()
    token = bench.server.token(clients[0])
    joining = bench.api.join(
        bench.run, "ada", Participation(document="0" * 64, protocol=PROTOCOL), token
    )
    assert await refusal(joining) == (409, "conflict")


async def test_a_name_that_has_joined_belongs_to_its_signing_key(standing: Bench):
    impostor = Client("ada")
    assert await put_join(standing, impostor) == 409
    assert await refusal(standing.beat(impostor)) == (403, "forbidden")
    assert await refusal(standing.task(impostor)) == (403, "forbidden")
    assert (await standing.task(standing.clients[0])).kind == TaskKind.TRAIN


async def test_whoever_has_not_joined_has_no_tasks(standing: Bench):
    stranger = Client("dora")
    assert await refusal(standing.task(stranger)) == (404, "unknown-resource")
    assert await refusal(standing.beat(stranger)) == (404, "unknown-resource")


async def test_a_heartbeat_says_what_a_client_is_doing(opened: Bench, clients: list[Client]):
    opened.clock.advance(20)
    message = Heartbeat(phase=Phase.ENCRYPTING, round=1)
    token = opened.server.token(clients[0])
    status = await opened.api.beat(opened.run, "ada", message, token)
    assert (status.phase, status.round) == (Phase.ENCRYPTING, 1)
    assert status.last_seen_at == opened.clock.now()


async def test_a_heartbeat_in_a_round_that_no_run_has_is_refused(standing: Bench):
    headers = {"Authorization": f"Bearer {standing.server.token(standing.clients[0])}"}
    path = f"/v1/runs/{standing.run}/participants/ada/heartbeat"
    for number, status in ((10**6, 200), (10**6 + 1, 422), (10**26, 422)):
        beat = {"phase": "idle", "round": number}
        response = await standing.aggregator.http.put(path, json=beat, headers=headers)
        assert response.status_code == status


def test_a_run_has_no_more_rounds_than_a_heartbeat_can_tell():
    (most,) = [m.le for m in RoundsSpec.model_fields["count"].metadata if hasattr(m, "le")]
    assert most == MOST_ROUNDS


async def test_a_client_that_was_not_heard_of_is_offline(opened: Bench, clients: list[Client]):
    opened.clock.advance(30)
    await opened.task(clients[1])
    opened.clock.advance(0.5)
    listed = (await opened.api.participants(opened.run, OPERATOR)).participants
    assert [p.online for p in listed] == [False, True, False]


async def test_a_time_from_before_the_clock_was_set_back_keeps_nobody_online(opened: Bench):
    opened.clock.advance(-3600)
    listed = (await opened.api.participants(opened.run, OPERATOR)).participants
    assert not any(p.online for p in listed)


async def test_an_excluded_client_is_asked_no_more(opened: Bench, clients: list[Client]):
    excluded = await opened.api.exclude(opened.run, "ada", OPERATOR)
    assert excluded.excluded
    assert (await opened.api.exclude(opened.run, "ada", OPERATOR)).excluded
    assert await put_join(opened, clients[0]) == 403
    await opened.contribute(1, *clients)  # this round still counts it
    await opened.aggregator.tick()
    first = await opened.api.outcome(opened.run, 1, OPERATOR)
    assert first.included == ("ada", "ben", "cleo")
    second = await opened.api.outcome(opened.run, 2, OPERATOR)
    assert second.selected == ("ben", "cleo")
    assert (await opened.task(clients[0], settled=1)).kind == TaskKind.WAIT
    token = opened.server.token(clients[0])  # while it lives, everything published can be read
    published = await opened.api.aggregate(opened.run, 1, OPERATOR)
    assert await opened.api.aggregate(opened.run, 1, token) == published
    assert await refusal(opened.api.exclude(opened.run, "nobody", OPERATOR)) == (
        404,
        "unknown-resource",
    )


async def test_whoever_is_excluded_hears_of_it_with_the_next_heartbeat(opened: Bench):
    ada = opened.clients[0]
    assert not (await opened.beat(ada)).excluded
    await opened.api.exclude(opened.run, "ada", OPERATOR)
    assert (await opened.beat(ada)).excluded


def waiting(bench: Bench, client: Client, seconds: float = 30.0) -> "asyncio.Task[Task]":
    return asyncio.create_task(
        bench.api.next_task(bench.run, client.name, 0, seconds, bench.server.token(client))
    )


async def is_held(bench: Bench, clients: list[Client], *polls: "asyncio.Task[Task]") -> bool:
    """Long enough for the request to have come in: those who wait are heard of."""
    seen = bench.clock.now()
    while True:
        listed = (await bench.api.participants(bench.run, OPERATOR)).participants
        if all(p.last_seen_at == seen for p in listed if p.client in {c.name for c in clients}):
            return not any(poll.done() for poll in polls)
        await asyncio.sleep(0.01)


async def test_a_long_poll_is_answered_as_soon_as_there_is_a_task(
    bench: Bench, clients: list[Client]
):
    await bench.create()
    await bench.join(*clients)
    bench.clock.advance(10)
    polls = [waiting(bench, client) for client in clients]
    assert await is_held(bench, clients, *polls)
    start = time.monotonic()
    await bench.aggregator.services.background.tick()
    tasks = await asyncio.gather(*polls)
    assert time.monotonic() - start < 10  # and not the 30 s that they would wait
    assert {task.kind for task in tasks} == {TaskKind.TRAIN}


async def test_a_change_that_concerns_nobody_is_looked_at_once_for_all_who_wait(
    bench: Bench, clients: list[Client]
):
    await bench.create(rounds={"start_with": 99})
    await bench.join(*clients)
    bench.clock.advance(10)
    polls = [waiting(bench, client) for client in clients]
    assert await is_held(bench, clients, *polls)
    passed: Counter[str] = Counter()
    start = time.monotonic()
    with watching(lambda moment: passed.update([moment])):
        for number in range(1, 9):
            await bench.join(Client(f"other-{number}"))
            await bench.aggregator.services.background.tick()
            async with asyncio.timeout(120):
                while passed[LOOK] < number:
                    await asyncio.sleep(0.005)
    by_the_clock = 1 + (time.monotonic() - start) // LOOK_SECONDS
    assert passed[LOOK] <= 8 + by_the_clock  # and not three times as often
    assert passed["ParticipantStore.find.done"] == 0
    assert not any(poll.done() for poll in polls)
    bench.aggregator.services.notifier.close()
    await asyncio.gather(*polls)


async def test_a_long_poll_without_a_task_ends_when_its_time_is_up(
    bench: Bench, clients: list[Client]
):
    await bench.create()
    await bench.join(clients[0])
    task = await waiting(bench, clients[0], seconds=0.05)
    assert (task.kind, task.run_state) == (TaskKind.WAIT, RunState.WAITING)


async def test_a_newer_poll_of_a_client_ends_the_older(bench: Bench, clients: list[Client]):
    await bench.create()
    await bench.join(clients[0])
    bench.clock.advance(10)
    older = waiting(bench, clients[0])
    assert await is_held(bench, clients[:1], older)
    newer = waiting(bench, clients[0], seconds=0.05)
    assert (await older).kind is (await newer).kind == TaskKind.WAIT


async def test_a_client_that_hangs_up_does_not_stay_online(bench: Bench, clients: list[Client]):
    """As a server tells it: the request, then the end of the connection."""
    await bench.create()
    await bench.join(clients[0])
    token = bench.server.token(clients[0])
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/v1/runs/{bench.run}/participants/ada/task",
        "query_string": b"wait_seconds=30",
        "headers": [(b"authorization", f"Bearer {token}".encode())],
    }

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(_message: object) -> None:
        """Nobody listens."""

    start = time.monotonic()
    await bench.aggregator.app(scope, receive, send)
    assert time.monotonic() - start < 15


async def test_long_polls_end_at_once_when_the_aggregator_stops(
    bench: Bench, clients: list[Client]
):
    await bench.create()
    await bench.join(clients[0])
    bench.clock.advance(10)
    poll = waiting(bench, clients[0])
    assert await is_held(bench, clients[:1], poll)
    bench.aggregator.services.notifier.close()
    assert (await asyncio.wait_for(poll, 10)).kind == TaskKind.WAIT


async def test_beyond_the_most_that_may_wait_clients_are_sent_away(
    tmp_path, clock: ManualClock, server: KeyServer, randomness, clients: list[Client]
):
    aggregator = Aggregator(tmp_path, clock, most_waiting=2)
    bench = Bench(aggregator, server, randomness, clients)
    await bench.create()
    await bench.join(*clients)
    clock.advance(10)
    polls = [waiting(bench, client) for client in clients[:2]]
    assert await is_held(bench, clients[:2], *polls)
    response = await aggregator.http.get(
        f"/v1/runs/{bench.run}/participants/cleo/task",
        headers={"Authorization": f"Bearer {server.token(clients[2])}"},
    )
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.json()["type"] == "urn:fedperm:problem:busy"
    aggregator.services.notifier.close()
    await asyncio.gather(*polls)
    aggregator.close()


async def test_a_client_that_claims_more_than_there_was_is_told(standing: Bench):
    assert await refusal(standing.task(standing.clients[0], settled=7)) == (409, "conflict")


async def test_senseless_waits_are_refused(standing: Bench):
    headers = {"Authorization": f"Bearer {standing.server.token(standing.clients[0])}"}
    path = f"/v1/runs/{standing.run}/participants/ada/task"
    for query in ("settled=-1", "settled=x", "wait_seconds=-1", "wait_seconds=nan"):
        response = await standing.aggregator.http.get(f"{path}?{query}", headers=headers)
        assert response.status_code == 422
