"""The two operators: they set up the run, hand out tokens, rotate, revoke, stop and go on."""

from collections.abc import Awaitable, Callable
from typing import Any

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.key_server import KeyServerApi
from fedperm.errors import RefusedError, UnreachableError
from fedperm.wire.aggregator import KeyEpoch, RunState
from fedperm.wire.key_server import KeyRequest, TokenRequest
from fedperm.wire.statements import SchemeSpec
from tests.aggregator.parties import OPERATOR as RUN_OPERATOR
from tests.aggregator.parties import ManualClock
from tests.keyserver.server import OPERATOR as KEY_OPERATOR
from tests.simulation import documents
from tests.simulation.lines import Line
from tests.simulation.members import Member, connection
from tests.simulation.world import World

MOST_MEMBERS = 10
"""There is a coordinate for each, whatever their names."""
MOST_PRESENT = 5


class Operators:
    def __init__(self, world: World) -> None:
        self._world = world
        self._keys = KeyServerApi(connection(Line(None, world.key_server, world.tally)))
        self._runs = AggregatorApi(connection(Line(None, world.aggregator, world.tally)))

    async def open(self, rounds: int) -> None:
        """Key, run, model and epoch; whatever is lost is asked for again."""
        await self.insist(
            lambda: self._keys.create_key(
                "main", KeyRequest(scheme=SchemeSpec.of_bits(512)), KEY_OPERATOR
            )
        )
        identity = await self.insist(self._keys.identity)
        document = documents.document(rounds, identity.signing_key, noised=self._world.noised)
        self._world.judge.document = document
        self._world.judge.models.append(documents.initial_parameters())
        await self.insist(lambda: self._runs.create_run(document, RUN_OPERATOR))
        body = documents.INITIAL.body
        await self.insist(lambda: self._runs.put_initial_model("demo", body, RUN_OPERATOR))
        await self.insist(self.carry)

    async def insist(self, act: Callable[[], Awaitable[Any]]) -> Any:
        """What an operator does until it is done: servers come back meanwhile."""
        for _ in range(20):
            for server in (self._world.key_server, self._world.aggregator):
                if not server.is_up:
                    server.start()
            answer = await self.attempt(act)
            if answer is not None:
                return answer
            self._world.disks.relieve()
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
        status = await self._keys.key("main")
        signed = await self._keys.epoch("main", status.latest_epoch)
        record = KeyEpoch(record=signed.record)
        await self._runs.put_key_epoch("demo", status.latest_epoch, record, RUN_OPERATOR)
        return status.latest_epoch

    async def rotate(self) -> None:
        status = await self._keys.key("main")
        await self._keys.create_epoch("main", status.latest_epoch + 1, KEY_OPERATOR)
        self._world.tally.faults["key rotation"] += 1

    async def enrol(self) -> Member:
        """A new client, with a token of its own."""
        is_late = len(self._world.judge.models) > 1
        minted = await self._keys.mint_token("main", TokenRequest(), KEY_OPERATOR)
        own = documents.WITH_LEDGER if self._world.noised else documents.WITHOUT_PRIVACY
        number = len(self._world.members)
        member = Member(
            f"member {number}",
            self._world.folder / str(number),
            ManualClock(self._world.key_server.clock.time),
            self._world.tally,
            (self._world.key_server, self._world.aggregator),
            enrolment_token=minted.token,
            **own,
        )
        self._world.members.append(member)
        self._world.tally.faults["late joiner"] += is_late
        return member

    async def stop(self) -> None:
        await self._runs.stop("demo", RUN_OPERATOR)
        self._world.tally.faults["operator's stop"] += 1

    async def revoke(self, member: Member) -> None:
        """By both operators. Its access token is good for a while, but it is asked no more."""
        session = member.session
        if session is None or self._world.is_small:
            return
        name = session.identity.name
        member.is_out = True
        await self.insist(lambda: self._keys.revoke_client("main", name, KEY_OPERATOR))
        await self.insist(lambda: self._runs.exclude("demo", name, RUN_OPERATOR))
        await self.insist(self.carry)
        self._world.tally.faults["revocation"] += 1

    async def join_late(self) -> None:
        if len(self._world.members) < MOST_MEMBERS and len(self._world.present) < MOST_PRESENT:
            await self.attempt(self.enrol)

    async def resume(self) -> object:
        """If the run is stopped, and not over."""
        status = await self._runs.run("demo", RUN_OPERATOR)
        if status.state is not RunState.STOPPED:
            return status
        return await self._runs.resume("demo", RUN_OPERATOR)

    async def replace(self, member: Member) -> None:
        """The owner of a client that lost its state gets a new token: it is another client."""
        if len(self._world.members) < MOST_MEMBERS:
            member.end()
            member.is_out = True
            self._world.tally.faults["lost state"] += 1
            await self.insist(self.enrol)
