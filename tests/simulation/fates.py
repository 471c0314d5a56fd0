"""What befalls parties without anybody's malice, besides crashes, lines and disks."""

import asyncio

from fedperm.errors import RefusedError, UnreachableError
from fedperm_client.session import Session
from fedperm_client.taking_part import TakingPart
from tests.simulation.disks import locked
from tests.simulation.lives import Killed, acting
from tests.simulation.members import Member
from tests.simulation.world import World


class Fates:
    def __init__(self, world: World) -> None:
        self._world = world

    async def sweep_while_locked(self, which: int) -> None:
        """Somebody else is in the middle of a transaction on a server's database."""
        server = (self._world.key_server, self._world.aggregator)[which % 2]
        if not server.is_up:
            return
        with locked(server.engine):
            server.is_locked = True
            await self._world.sweep()
            server.is_locked = False
        self._world.tally.faults["database locked"] += 1

    async def two_polls(self, member: Member) -> None:
        """The newer one ends the older, which would wait for long."""
        session, stage = member.session, member.participant and member.participant.stage
        if session is None or not isinstance(stage, TakingPart) or not self._world.aggregator.is_up:
            return
        settled = stage.run.checkpoint.settled
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
            self._world.tally.faults["two polls"] += 1
        except (UnreachableError, RefusedError, Killed):
            return

    async def deliver_late(self, member: Member) -> None:
        for line in member.lines:
            await line.deliver_late()

    def leave_or_come_back(self, who: int) -> None:
        there = [member for member in self._world.members if not member.is_out]
        member = there[who % len(there)]
        if member.is_gone:
            member.is_gone = False
        elif not self._world.is_small:
            member.end()
            member.is_gone = True
            self._world.tally.faults["drop-out"] += 1

    def lose_model(self, member: Member) -> None:
        """All rounds are replayed; ledger and identity are there."""
        member.end()
        (member.state.path / "runs" / "demo" / "checkpoint.safetensors").unlink(missing_ok=True)
        self._world.tally.faults["lost model"] += 1

    async def restart(self) -> None:
        """In order: the aggregator drains, the key server just ends."""
        if self._world.aggregator.is_up:
            self._world.aggregator.stop()
        self._world.key_server.end()


async def _a_moment() -> None:
    """Whatever can happen without waiting happens."""
    for _ in range(100):
        await asyncio.sleep(0)
