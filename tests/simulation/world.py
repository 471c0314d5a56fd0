"""A federation under simulation: its parties, its operators, and what may happen to them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import FedPermError, RefusedError, UnreachableError
from fedperm.wire.aggregator import KeyEpoch, RunState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm_client.rounds import TakingPart
from fedperm_client.session import Session
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.aggregator.parties import ManualClock
from tests.keyserver.server import OPERATOR as KEY_OPERATOR
from tests.simulation import documents
from tests.simulation.disks import Disks, locked
from tests.simulation.judge import Judge, charges, leftovers
from tests.simulation.lines import Line
from tests.simulation.lives import Killed, Party, acting
from tests.simulation.members import Member, connection
from tests.simulation.servers import Aggregator, KeyServer
from tests.simulation.tally import Tally

MOST_MEMBERS = 10
"""There is a coordinate for each, whatever their names."""
MOST_PRESENT = 5


class World:
    def __init__(self, folder: Path, tally: Tally, disks: Disks, *, noised: bool) -> None:
        self.tally, self.disks, self.noised = tally, disks, noised
        self.judge = Judge(tally)
        self.members: list[Member] = []
        self._folder = folder
        self._set_back = 0.0
        common = (tally, disks, self.judge)
        self.key_server = KeyServer("key server", folder / "keys", ManualClock(), *common)
        self.aggregator = Aggregator("aggregator", folder / "aggregator", ManualClock(), *common)
        self.aggregator.pass_time = self.advance
        self.keys = KeyServerApi(connection(Line(None, self.key_server, tally)))
        self.runs = AggregatorApi(connection(Line(None, self.aggregator, tally)))

    @property
    def parties(self) -> list[Party]:
        return [self.key_server, self.aggregator, *self.members]

    @property
    def present(self) -> list[Member]:
        return [member for member in self.members if not (member.is_gone or member.is_out)]

    @property
    def are_clocks_apart(self) -> bool:
        times = [party.clock.time for party in self.parties]
        return max(times) - min(times) > 1

    def party(self, index: int) -> Party:
        """Any, by a number of any size; servers as often as members."""
        servers: list[Party] = [self.key_server, self.aggregator, self.aggregator]
        candidates = [*servers, *self.present]
        return candidates[index % len(candidates)]

    def member(self, index: int) -> Member:
        return self.present[index % len(self.present)]

    @property
    def is_small(self) -> bool:
        """Nobody more may go."""
        return len(self.present) <= 2

    # operators

    async def open(self, rounds: int) -> None:
        """Key, run, model and epoch; whatever is lost is asked for again."""
        await self.insist(
            lambda: self.keys.create_key("main", KeyRequest(key_bits=512), KEY_OPERATOR)
        )
        identity = await self.insist(self.keys.identity)
        document = documents.document(rounds, identity.signing_key, noised=self.noised)
        self.judge.document = document
        self.judge.models.append(documents.initial_parameters())
        await self.insist(lambda: self.runs.create_run(document, RUN_OPERATOR))
        body = documents.INITIAL.body
        await self.insist(lambda: self.runs.put_initial_model("demo", body, RUN_OPERATOR))
        await self.insist(self.carry)

    async def insist(self, act: Callable[[], Awaitable[Any]]) -> Any:
        """What an operator does until it is done: servers come back meanwhile."""
        for _ in range(20):
            for server in (self.key_server, self.aggregator):
                if not server.is_up:
                    server.start()
            answer = await self.attempt(act)
            if answer is not None:
                return answer
            self.disks.relieve()
        raise AssertionError("an operator was refused 20 times")

    async def attempt(self, act: Callable[[], Awaitable[Any]]) -> Any:
        """The answer, or None if a fault came in between."""
        try:
            return await act()
        except UnreachableError:
            return None
        except RefusedError as refusal:
            if refusal.status not in {503, 507}:
                raise
            return None

    async def carry(self) -> int:
        """The newest key epoch, from the key server to the aggregator; which one it is."""
        status = await self.keys.key("main")
        signed = await self.keys.epoch("main", status.latest_epoch)
        record = KeyEpoch(record=signed.record)
        await self.runs.put_key_epoch("demo", status.latest_epoch, record, RUN_OPERATOR)
        return status.latest_epoch

    async def rotate(self) -> None:
        status = await self.keys.key("main")
        await self.keys.create_epoch("main", status.latest_epoch + 1, KEY_OPERATOR)
        self.tally.faults["key rotation"] += 1

    async def enrol(self) -> Member:
        """A new client, with a token of its own."""
        is_late = len(self.judge.models) > 1
        minted = await self.keys.mint_token("main", TokenRequest(), KEY_OPERATOR)
        own = documents.WITH_LEDGER if self.noised else documents.WITHOUT_PRIVACY
        number = len(self.members)
        member = Member(
            f"member {number}",
            self._folder / str(number),
            ManualClock(self.key_server.clock.time),
            self.tally,
            (self.key_server, self.aggregator),
            enrolment_token=minted.token,
            **own,
        )
        self.members.append(member)
        self.tally.faults["late joiner"] += is_late
        return member

    async def stop_or_resume(self) -> None:
        status = await self.runs.run("demo", RUN_OPERATOR)
        if status.state is RunState.STOPPED:
            await self.runs.resume("demo", RUN_OPERATOR)
        elif not status.state.is_over:
            await self.runs.stop("demo", RUN_OPERATOR)
            self.tally.faults["operator's stop"] += 1

    async def revoke(self, member: Member) -> None:
        """By both operators. Its access token is good for a while, but it is asked no more."""
        session = member.session
        if session is None or self.is_small:
            return
        name = session.identity.name
        member.is_out = True
        await self.insist(lambda: self.keys.revoke_client("main", name, KEY_OPERATOR))
        await self.insist(lambda: self.runs.exclude("demo", name, RUN_OPERATOR))
        await self.insist(self.carry)
        self.tally.faults["revocation"] += 1

    async def join_late(self) -> None:
        if len(self.members) < MOST_MEMBERS and len(self.present) < MOST_PRESENT:
            await self.attempt(self.enrol)

    # what happens by itself

    async def step(self, member: Member) -> None:
        if not member.is_up:
            member.start()
        error = await member.step()
        if error is not None and not self._is_excused(member, error):
            self.judge.object("unexpected refusal", f"{member.name}: {type(error)} {error}")

    async def sweep(self) -> None:
        """Everybody does one thing."""
        for member in self.present:
            if not member.rest:
                await self.step(member)
        await self.aggregator.tick()

    def rouse(self) -> None:
        """Between two operations: who has rested long enough starts again."""
        self.disks.relieve()
        for party in [self.key_server, self.aggregator, *self.present]:
            if party.rest:
                party.rest -= 1
            elif not party.is_up:
                party.start()

    def look(self) -> None:
        if self.key_server.is_up and self.aggregator.is_up:
            self.judge.look(self.key_server, self.aggregator, self.members)

    def advance(self, seconds: float) -> None:
        self._set_back = max(0.0, self._set_back - seconds)
        for party in self.parties:
            party.clock.advance(seconds)

    async def sweep_while_locked(self, which: int) -> None:
        """Somebody else is in the middle of a transaction on a server's database."""
        server = (self.key_server, self.aggregator)[which % 2]
        if not server.is_up:
            return
        with locked(server.engine):
            server.is_locked = True
            await self.sweep()
            server.is_locked = False
        self.tally.faults["database locked"] += 1

    def align_clocks(self) -> None:
        now = max(party.clock.time for party in self.parties)
        for party in self.parties:
            party.clock.time = now

    # what happens to members

    async def two_polls(self, member: Member) -> None:
        """The newer one ends the older, which would wait for long."""
        session, stage = member.session, member.participant and member.participant.stage
        if session is None or not isinstance(stage, TakingPart) or not self.aggregator.is_up:
            return
        settled = stage.checkpoint.settled
        with acting(member.life):
            older = asyncio.ensure_future(self._poll(session, settled, 1000.0))
            await _a_moment()
            await self._poll(session, settled, 0.0)
            await _a_moment()
            older.cancel()
            await asyncio.wait({older})
        if not member.is_up:
            member.end()

    async def _poll(self, session: Session, settled: int, seconds: float) -> None:
        try:
            await session.next_task(settled, seconds)
            self.tally.faults["two polls"] += 1
        except (UnreachableError, RefusedError, Killed):
            return

    async def deliver_late(self, member: Member) -> None:
        for line in member.lines:
            await line.deliver_late()

    def leave_or_come_back(self, who: int) -> None:
        there = [member for member in self.members if not member.is_out]
        member = there[who % len(there)]
        if member.is_gone:
            member.is_gone = False
        elif not self.is_small:
            member.end()
            member.is_gone = True
            self.tally.faults["drop-out"] += 1

    async def lose_state(self, member: Member) -> None:
        """The folder is gone; the owner gets a new token and is another client from now on."""
        if len(self.members) < MOST_MEMBERS:
            member.end()
            member.is_out = True
            self.tally.faults["lost state"] += 1
            await self.insist(self.enrol)

    def lose_model(self, member: Member) -> None:
        """All rounds are replayed; ledger and identity are there."""
        member.end()
        (member.state.path / "runs" / "demo" / "checkpoint.safetensors").unlink(missing_ok=True)
        self.tally.faults["lost model"] += 1

    async def restart(self) -> None:
        """In order: the aggregator drains, the key server just ends."""
        if self.aggregator.is_up:
            self.aggregator.stop()
        self.key_server.end()

    # the end

    async def finish(self, rounds: int) -> None:
        """The faults are over: the run must go on to its end, and all must agree."""
        self._heal()
        await self.insist(self._resume)
        await self.insist(self.carry)
        while len(self.present) < 3:
            await self.enrol()
        for _ in range(30 + 25 * rounds):
            if all(member.is_finished for member in self.present):
                break
            await self.sweep()
            self.advance(5.0)
        await self.aggregator.tick()
        self.look()
        self._check_end()

    async def _resume(self) -> object:
        status = await self.runs.run("demo", RUN_OPERATOR)
        if status.state is not RunState.STOPPED:
            return status
        return await self.runs.resume("demo", RUN_OPERATOR)

    def _heal(self) -> None:
        self.align_clocks()
        self.advance(self._set_back)  # the right time again: whoever waits, waits by the clock
        self.disks.relieve(everybody=True)
        for party in self.parties:
            party.fuse, party.rest = None, 0
        self.aggregator.rival = None
        for member in self.members:
            member.is_gone = False
            for line in member.lines:
                line.trouble = None
        self.rouse()

    def _check_end(self) -> None:
        status = self.aggregator.stores.runs.status("demo")
        late = [member.name for member in self.present if not member.is_finished]
        if status.state is not RunState.COMPLETED or late:
            self.judge.object("standstill", f"the run is {status}, not finished: {late}")
        if left := leftovers(self.aggregator):
            self.judge.object("leftover", f"uploads lie on the disk: {left}")
        self.judge.audit(self.key_server)
        for member in self.present:
            if member.has_ledger:
                for number in range(1, status.rounds + 1):
                    if len(charges(member, number)) > 1:
                        self.judge.object("double charge", f"{member.name}, round {number}")

    def _is_excused(self, member: Member, error: FedPermError) -> bool:
        if isinstance(error, UnreachableError):
            return any(line.failed for line in member.lines)
        if not isinstance(error, RefusedError):
            return False
        servers = (self.key_server, self.aggregator)
        is_short = any(server.is_short for server in servers)
        is_locked = any(server.is_locked for server in servers)
        excuses = {
            401: self.are_clocks_apart,
            403: member.is_out,
            503: is_locked or is_short,
            507: is_short,
        }
        return excuses.get(error.status, False)

    def close(self) -> None:
        for member in self.members:
            member.end()
        for server in (self.key_server, self.aggregator):
            server.end()
            server.process.database.close()


async def _a_moment() -> None:
    """Whatever can happen without waiting happens."""
    for _ in range(100):
        await asyncio.sleep(0)
