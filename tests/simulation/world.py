"""A federation under simulation: its parties and their time, and what happens by itself."""

from pathlib import Path

from fedperm.errors import FedPermError, RefusedError, UnreachableError
from tests.aggregator.parties import ManualClock
from tests.simulation.disks import Disks
from tests.simulation.judge import Judge
from tests.simulation.lives import Party
from tests.simulation.members import Member
from tests.simulation.servers import Aggregator, KeyServer
from tests.simulation.tally import Tally


class World:
    """`set_back` is how far behind the right time all clocks are, `skewed_for` for how many more
    operations they differ."""

    def __init__(self, folder: Path, tally: Tally, disks: Disks, *, noised: bool) -> None:
        self.tally, self.disks, self.noised = tally, disks, noised
        self.judge = Judge(tally)
        self.members: list[Member] = []
        self.folder = folder
        self.set_back = 0.0
        self.skewed_for = 0
        common = (tally, disks, self.judge)
        self.key_server = KeyServer("key server", folder / "keys", ManualClock(), *common)
        self.aggregator = Aggregator("aggregator", folder / "aggregator", ManualClock(), *common)
        self.aggregator.pass_time = self.advance

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
        if self.skewed_for:
            self.skewed_for -= 1
            if not self.skewed_for:
                self.align_clocks()

    def look(self) -> None:
        if self.key_server.is_up and self.aggregator.is_up:
            self.judge.look(self.key_server, self.aggregator, self.members)

    def advance(self, seconds: float) -> None:
        self.set_back = max(0.0, self.set_back - seconds)
        for party in self.parties:
            party.clock.advance(seconds)

    def skew(self, party: Party, seconds: float) -> None:
        """One clock is wrong for some operations, until somebody sees to it."""
        self.tally.faults["clock skew"] += 1
        self.skewed_for = 4
        party.clock.advance(seconds)

    def align_clocks(self) -> None:
        now = max(party.clock.time for party in self.parties)
        for party in self.parties:
            party.clock.time = now

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

    def heal(self) -> None:
        """All faults end; the time is right again: whoever waits, waits by the clock."""
        self.align_clocks()
        self.advance(self.set_back)
        self.disks.relieve(everybody=True)
        for party in self.parties:
            party.fuse, party.rest = None, 0
        self.aggregator.rival = None
        for member in self.members:
            member.is_gone = False
            for line in member.lines:
                line.trouble = None
        self.rouse()

    def close(self) -> None:
        for member in self.members:
            member.end()
        for server in (self.key_server, self.aggregator):
            server.end()
            server.process.database.close()
