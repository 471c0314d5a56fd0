"""Any order of operations and faults on a federation, as a hypothesis state machine."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any, ClassVar

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from fedperm import crash_points
from tests.aggregator.bench import quick_folder
from tests.simulation.attacks import Attacks
from tests.simulation.disks import Disks, Shortage
from tests.simulation.ending import finish
from tests.simulation.fates import Fates
from tests.simulation.lines import Mishap, Trouble
from tests.simulation.lives import Fuse, watch
from tests.simulation.one_thread import one_thread
from tests.simulation.operators import Operators
from tests.simulation.tally import Tally
from tests.simulation.world import World

STEPS = (
    "AccessStore",
    "ClientKeys.kept_at",
    "ClientStore.enrol",
    "ClientStore.revoke",
    "EventStore",
    "FileBlobStore.keep",
    "FileBlobStore.remove.",
    "FileBlobStore.remove_all",
    "FileBlobStore.sweep",
    "FileBlobStore.write",
    "JobStore.claim",
    "KeyStore.rotate",
    "Ledger.charge",
    "ModelStore.save",
    "NewestEpoch",
    "Outbox.acknowledge",
    "Outbox.clear",
    "Outbox.put",
    "ParticipantStore.join",
    "ReportStore.add",
    "RoundStore.advance.Abort",
    "RoundStore.advance.Extend",
    "RoundStore.advance.Open",
    "RoundStore.advance.Advance",
    "RoundStore.mark_scrubbed",
    "RoundStore.keep_aggregate",
    "RoundStore.sealed",
    "RunStore",
    "Sink",
    "TokenStore",
    "SubmissionStore.settle",
    "SubmissionStore.store",
    "keep_enrolment",
    "line",
    "worker",
)
"""Steps that a crash may be aimed at; those of which there are few would else be hit rarely."""

WHO = st.integers(0, 30)
SOON = st.integers(1, 12)
REST = st.integers(0, 2)
JUMPS = st.sampled_from([1.0, 6.0, 16.0, 31.0, 61.0, 121.0, 3600.0, -1.0, -61.0, -3600.0])


class Simulation(RuleBasedStateMachine):
    """`may_begin` says whether there is time for another sequence."""

    tally: ClassVar[Tally] = Tally()
    may_begin: ClassVar[Callable[[], bool]] = lambda: True

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        self.has_failed = True
        self.run = self.resources.enter_context(one_thread())

    @initialize(noised=st.booleans(), rounds=st.integers(3, 8), left=st.integers(1, 40), who=WHO)
    def open(self, noised: bool, rounds: int, left: int, who: int) -> None:
        """A run with three clients. One of the servers may end while it is being set up."""
        if not type(self).may_begin():
            reject()
        self.tally.sequences += 1
        disks = Disks(self.tally)
        folder = self.resources.enter_context(quick_folder())
        self.resources.enter_context(crash_points.watching(watch))
        self.resources.enter_context(disks.installed())
        self.rounds = rounds
        self.world = World(folder, self.tally, disks, noised=noised)
        self.resources.callback(self.world.close)
        self.operators, self.fates = Operators(self.world), Fates(self.world)
        self.attacks = Attacks(self.world)
        self.world.party(who).fuse = Fuse(left)
        self.do(self.operators.open(rounds))
        for _ in range(3):
            self.do(self.operators.insist(self.operators.enrol))

    def do(self, work: Awaitable[Any] | None = None) -> None:
        """One operation, and a look at what came of it."""
        self.tally.operations += 1
        self.has_failed = True
        if work is not None:
            self.run(work)
        self.world.rouse()
        self.world.look()
        self.has_failed = False

    # what is meant to happen

    @rule(times=st.integers(1, 3))
    def all_step(self, times: int) -> None:
        for _ in range(times):
            self.do(self.world.sweep())

    @rule(seconds=st.sampled_from([1.0, 21.0, 61.0]))
    def all_step_and_time_passes(self, seconds: float) -> None:
        self.world.advance(seconds)
        self.do(self.world.sweep())

    @rule(who=WHO)
    def one_steps(self, who: int) -> None:
        self.do(self.world.step(self.world.member(who)))

    @rule()
    def tick(self) -> None:
        self.do(self.world.aggregator.tick())

    @rule()
    def late_joiner(self) -> None:
        self.do(self.operators.join_late())

    @rule(who=WHO)
    def two_polls(self, who: int) -> None:
        self.do(self.fates.two_polls(self.world.member(who)))

    @rule(times=st.integers(0, 3))
    def stop_and_go(self, times: int) -> None:
        """An open round ends meanwhile, and no other opens."""
        self.do(self.operators.attempt(self.operators.stop))
        for _ in range(times):
            self.do(self.world.sweep())
        self.do(self.operators.attempt(self.operators.resume))

    @rule(is_carried=st.booleans())
    def rotate(self, is_carried: bool) -> None:
        """The aggregator gets the new epoch at once, or with a later one."""
        self.do(self.operators.attempt(self.operators.rotate))
        if is_carried:
            self.do(self.operators.attempt(self.operators.carry))

    # faults

    @rule(who=WHO, left=st.integers(1, 30), rest=REST)
    def crash(self, who: int, left: int, rest: int) -> None:
        """So many moments from now."""
        self.world.party(who).fuse = Fuse(left, "", rest)
        self.do(self.world.sweep())

    @rule(step=st.sampled_from(STEPS), left=st.integers(1, 3), rest=REST)
    def crash_at(self, step: str, left: int, rest: int) -> None:
        """Whoever comes to it first."""
        fuse = Fuse(left, step, rest)
        for party in self.world.parties:
            party.fuse = fuse
        self.do(self.world.sweep())

    @rule()
    def restart(self) -> None:
        self.do(self.fates.restart())

    @rule(who=WHO, mishap=st.sampled_from(Mishap), left=SOON, line=st.integers(0, 1))
    def trouble(self, who: int, mishap: Mishap, left: int, line: int) -> None:
        self.world.member(who).lines[line].trouble = Trouble(mishap, left)
        self.do(self.world.sweep())

    @rule(who=WHO, mishap=st.sampled_from(Mishap))
    def trouble_with_an_upload(self, who: int, mishap: Mishap) -> None:
        trouble = Trouble(mishap, left=1, is_aimed=True)
        self.world.member(who).to_aggregator.trouble = trouble
        self.do(self.world.sweep())

    @rule(who=WHO)
    def late_requests_come(self, who: int) -> None:
        self.do(self.fates.deliver_late(self.world.member(who)))

    @rule(who=WHO, left=SOON, torn=st.booleans())
    def disk_full(self, who: int, left: int, torn: bool) -> None:
        self.world.disks.run_short(self.world.party(who).name, Shortage(left, torn))
        self.do(self.world.sweep())

    @rule(which=st.integers(0, 1))
    def locked(self, which: int) -> None:
        self.do(self.fates.sweep_while_locked(which))

    @rule(left=st.integers(1, 6))
    def rival(self, left: int) -> None:
        """Of the aggregator, after so many pieces of work."""
        self.world.aggregator.rival = left
        self.do(self.world.sweep())

    @rule(seconds=JUMPS)
    def clocks_jump(self, seconds: float) -> None:
        self.tally.faults["clock jump"] += 1
        self.world.advance(seconds)
        self.do(self.world.sweep())

    @rule(who=WHO, seconds=JUMPS)
    def a_clock_jumps(self, who: int, seconds: float) -> None:
        self.world.skew(self.world.party(who), seconds)
        self.do(self.world.sweep())

    @rule(who=WHO)
    def leave_or_come_back(self, who: int) -> None:
        self.fates.leave_or_come_back(who)
        self.do()

    @rule(who=WHO)
    def lose_state(self, who: int) -> None:
        self.do(self.operators.replace(self.world.member(who)))

    @rule(who=WHO)
    def lose_model(self, who: int) -> None:
        self.fates.lose_model(self.world.member(who))
        self.do()

    @rule(who=WHO)
    def revoke(self, who: int) -> None:
        self.do(self.operators.revoke(self.world.member(who)))

    # attacks

    @rule(who=WHO, which=st.integers(0, 9))
    def replay(self, who: int, which: int) -> None:
        self.do(self.attacks.replay(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def other_bytes(self, who: int, which: int) -> None:
        self.do(self.attacks.other_bytes(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def wrong_epoch(self, who: int, which: int) -> None:
        self.do(self.attacks.wrong_epoch(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def wrong_slot(self, who: int, which: int) -> None:
        self.do(self.attacks.wrong_slot(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def stolen(self, who: int, which: int) -> None:
        self.do(self.attacks.stolen(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def early(self, who: int, which: int) -> None:
        self.do(self.attacks.early(self.world.member(who), which))

    @rule(who=WHO, which=st.integers(0, 9))
    def poison(self, who: int, which: int) -> None:
        self.do(self.attacks.poison(self.world.member(who), which))

    def teardown(self) -> None:
        try:
            if not self.has_failed:
                self.run(finish(self.world, self.operators, self.rounds))
        finally:
            self.resources.close()
