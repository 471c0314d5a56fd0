"""A whole federation's life in one process, with much of what can go wrong in it, and the names of
the moments that it passes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from fedperm import crash_points
from fedperm.database import Database
from fedperm.errors import BudgetError, RefusedError
from fedperm.privacy.events import Rounds
from fedperm.privacy.registry import accountant_named
from fedperm.privacy.release import event_of
from fedperm.randomness import from_operating_system
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import KeyEpoch, RoundState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from fedperm.workers import Workers
from fedperm_keyserver.root_keys import RootKeys
from fedperm_keyserver.stores.secrets import SecretStore
from fedperm_keyserver.vault import key_encryption_key
from tests.aggregator import test_checkpoints as checkpoints
from tests.aggregator.bench import Aggregator, Bench
from tests.aggregator.gated import gated
from tests.aggregator.parties import OPERATOR, Client, KeyServer, ManualClock
from tests.client.documents import LINES, lines_document
from tests.client.federation import Federation, drive
from tests.core.federation import InlineExecutor
from tests.crash_points.factor import with_factor
from tests.crash_points.mortal_aggregator import PAIR
from tests.crash_points.writes import observing_writes, persists
from tests.keyserver.member import Member
from tests.keyserver.server import KEK, KEY_BITS, OTHER_KEK, MovingClock
from tests.keyserver.server import OPERATOR as KEY_OPERATOR


class Passed:
    """`written` are the moments of steps that wrote something."""

    def __init__(self) -> None:
        self.all: set[str] = set()
        self.written: set[str] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        with observing_writes(), crash_points.watching(self._note):
            yield

    def _note(self, moment: str) -> None:
        self.all.add(moment)
        if persists(moment):
            self.written.add(moment)


async def live_in_peace(folder: Path) -> None:
    """Our three programs: a run to its end, then one that a client cannot afford."""
    clock = MovingClock()
    federation = Federation(folder, clock)
    await federation.start_lines()
    event = event_of(lines_document())
    two_rounds = accountant_named("no-shuffle-rdp").guarantee(Rounds(event, 2), 1e-5).epsilon
    (ada,) = await federation.line_homes("ada", max_epsilon=two_rounds * 1.0001)
    (ben,) = await federation.line_homes("ben")
    with ada.client() as one, ben.client() as two:
        await drive(federation, one, two)
    await federation.start_run(LINES, lines_document(run="second"))
    with (
        ada.client(run="second") as one,
        ben.client(run="second") as two,
        pytest.raises(BudgetError),
    ):
        await drive(federation, one, two)
    await use_the_key_server(federation, clock)
    federation.close()


async def use_the_key_server(federation: Federation, clock: MovingClock) -> None:
    server, api = federation.key_server, federation.key_server.api
    token = (await api.mint_token("main", TokenRequest(), KEY_OPERATOR)).token
    member = Member(server, clock, "main")
    await member.enrol(token)
    with pytest.raises(RefusedError):
        await Member(server, clock, "main").enrol(token)
    spare = await api.mint_token("main", TokenRequest(), KEY_OPERATOR)
    await api.revoke_token("main", spare.status.id, KEY_OPERATOR)
    await api.create_key("main", KeyRequest(scheme=SchemeSpec.of_bits(KEY_BITS)), KEY_OPERATOR)
    await api.create_epoch("main", 2, KEY_OPERATOR)
    await api.revoke_client("main", member.name, KEY_OPERATOR)
    await api.destroy_epoch("main", 1, KEY_OPERATOR)
    for path in ("keys", "keys/main", "keys/main/clients", "keys/main/enrolment-tokens", "audit"):
        await server.send("GET", f"/v1/{path}", token=KEY_OPERATOR)
    await server.send("GET", "/readyz")
    root_keys = RootKeys(server.beside(), clock, from_operating_system())
    old, new = key_encryption_key(KEK), key_encryption_key(OTHER_KEK)
    root_keys.succeed(old)
    root_keys.retire(old, 1)
    enrolled_at = change_a_row(server.database, member.name, 1.5)
    with pytest.raises(RefusedError):
        await member.access()
    change_a_row(server.database, member.name, enrolled_at)
    root_keys.rewrap(old, new)
    assert SecretStore(server.beside()).wrappers()


def change_a_row(database: Database, client: str, enrolled_at: float) -> float:
    """As somebody who can write into the database does; tells what was there."""
    row = {"client": client, "enrolled_at": enrolled_at}
    with database.engine.begin() as connection:
        there = text("SELECT enrolled_at FROM clients WHERE name = :client")
        before = float(connection.execute(there, row).scalar_one())
        change = text("UPDATE clients SET enrolled_at = :enrolled_at WHERE name = :client")
        connection.execute(change, row)
    return before


class SlowClockwork(InlineExecutor):
    """Every piece of work takes two seconds."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self._clock.advance(2)
        return super().submit(fn, *args, **kwargs)


async def live_in_trouble(folder: Path) -> None:
    """An aggregator with clients that are late, lie, or are gone, and a disk that fails."""
    clock, clients = ManualClock(), [Client(name) for name in ("ada", "ben", "cleo")]
    server = KeyServer(clock, {1: PAIR, 2: PAIR})
    aggregator = Aggregator(folder, clock, Workers(SlowClockwork(clock), 1))
    bench = Bench(aggregator, server, Random(3), clients)
    await bench.create(epochs=2, rounds={"count": 9})
    await bench.join(*clients)
    await aggregator.tick()
    await be_late(bench)
    await lie(bench)
    await work_long(bench)
    await seal_twice(bench)
    await lose_an_upload(bench)
    await ask_everything(bench)
    await decline(bench)
    bench.aggregator.close()


async def be_late(bench: Bench) -> None:
    """Round 1 is extended, then aborted; the operator stops the run and lets it go on."""
    await bench.contribute(1, bench.clients[0], epoch=2)
    for seconds in (61, 21):
        bench.clock.advance(seconds)
        await bench.beat(*bench.clients)
        await bench.aggregator.tick()
    assert await bench.state(1) is RoundState.ABORTED
    await bench.api.stop(bench.run, OPERATOR)
    await bench.api.resume(bench.run, OPERATOR)


async def lie(bench: Bench) -> None:
    """Round 2: one sends a factor of the key, is excluded, and asks what became of it."""
    await bench.beat(*bench.clients)
    await bench.aggregator.tick()
    ada, *others = bench.clients
    await bench.upload(ada, 2, with_factor(bench, ada, 2, epoch=2))
    await bench.contribute(2, *others, epoch=2)
    await bench.aggregator.tick()
    assert await bench.state(2) is RoundState.PUBLISHED
    await bench.api.submission(UPDATE, bench.run, 2, ada.name, bench.server.token(ada))


async def work_long(bench: Bench) -> None:
    """Round 3: a job outlives several ticks, and then its process."""
    _, ben, cleo = bench.clients
    async with gated(bench.aggregator) as gate:
        await bench.contribute(3, ben, epoch=2)
        background = bench.aggregator.services.background
        for _ in range(2):
            await background.tick()
            gate.wait_for_work()
        background.stop()
    bench.aggregator = bench.aggregator.restarted()
    await bench.beat(ben, cleo)
    await bench.contribute(3, cleo, epoch=2)
    await bench.aggregator.tick()
    assert await bench.state(3) is RoundState.PUBLISHED


async def seal_twice(bench: Bench) -> None:
    """The contributors to round 3 vouch for what they have, and again for another epoch."""
    for epoch in (2, 3):
        body = checkpoints.sealed(bench, epoch)
        for client in bench.clients[1:]:
            await checkpoints.vouch(bench, client, body, round=3, epoch=epoch)
        await checkpoints.send(bench, client, body, 3)
    await bench.api.checkpoint(bench.run, OPERATOR)


async def decline(bench: Bench) -> None:
    """In another run, of which the key has a newer epoch."""
    await bench.create(run="declined")
    await bench.join(*bench.clients)
    await bench.aggregator.tick()
    newer, ada = KeyEpoch(record=bench.server.epoch(2)), bench.clients[0]
    await bench.api.decline(bench.run, 1, ada.name, newer, bench.server.token(ada))


async def lose_an_upload(bench: Bench) -> None:
    """Rounds 4 and 5 cannot be folded: the run fails."""
    _, ben, cleo = bench.clients
    for number in (4, 5):
        await bench.beat(ben, cleo)
        await bench.aggregator.tick()
        await bench.contribute(number, ben, epoch=2)
        await bench.aggregator.tick()
        folder = bench.aggregator.settings.state_directory / "runs" / bench.run / "rounds"
        (upload,) = (folder / str(number) / "uploads").iterdir()
        upload.write_bytes(b"damaged")
        await bench.contribute(number, cleo, epoch=2)
        while await bench.state(number) is not RoundState.ABORTED:
            await bench.aggregator.tick()
            bench.clock.advance(1)


async def ask_everything(bench: Bench) -> None:
    """What only reads."""
    http, run = bench.aggregator.http, f"/v1/runs/{bench.run}"
    paths = ("/v1/runs", run, f"{run}/rounds", f"{run}/participants", f"{run}/rounds/2/report")
    for path in (*paths, f"{run}/rounds/2/aggregate", f"{run}/key-epochs", "/readyz"):
        await http.get(path, headers={"Authorization": f"Bearer {OPERATOR}"})
    bench.aggregator.services.notifier.close()
    assert [event async for event in bench.api.events(bench.run, OPERATOR)]
