"""The federation under test: every client reaches both servers over links of its own."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedperm.run_document import FrozenDocument
from fedperm.wire.aggregator import RoundOutcome, RunState
from fedperm_cli.federation.processes import RunningProcess
from fedperm_client.initial_model import initial_model
from fedperm_client.model_store import Checkpoint, ModelStore
from fedperm_client.state_directory import StateDirectory
from tests.chaos.faults import Plan
from tests.chaos.network import Network
from tests.chaos.upload_witness import UploadWitness
from tests.chaos.verdict import ClientState, Seen
from tests.client.documents import document
from tests.federation.world import World, world
from tests.proc import workers_of

PARAMETERS = 40
OPTIONS = {"parameters": PARAMETERS}
NOISE = {"clip": 1.0, "laplace_scale": 0.0005, "grid": 1 << 16}
"""So little that sums stay readable, and yet the ledger counts."""

PlanOf = Callable[[str], Plan]
"""By the name of a link."""


@dataclass(frozen=True)
class Member:
    """One client and its process; its coordinate is its shard."""

    process: RunningProcess
    coordinate: int
    state: StateDirectory

    @property
    def name(self) -> str:
        return str(json.loads(self.state.enrolled.read_text())["client"])

    def is_enrolled(self) -> bool:
        return self.state.enrolled.exists()


class TroubledFederation:
    def __init__(
        self,
        world: World,
        document: FrozenDocument,
        members: tuple[Member, ...],
        witness: UploadWitness,
    ) -> None:
        self.world = world
        self.members = members
        self._document = document
        self._witness = witness

    @property
    def min_contributors(self) -> int:
        return self._document.content.rounds.min_contributors

    def rounds(self) -> list[RoundOutcome]:
        world = self.world
        reports = world.ask(lambda api: api.rounds(world.run, world.run_operator)).rounds
        return [report.outcome for report in reports]

    def wait_for_rounds(self, count: int) -> None:
        """Until so many are settled."""

        def are_settled() -> bool:
            return sum(outcome.state.is_settled for outcome in self.rounds()) >= count

        self.world.wait_until(are_settled, f"{count} settled rounds", pause_seconds=0.3)

    def workers(self) -> list[int]:
        """The aggregator's worker processes, as far as it runs and has any."""
        return workers_of(self.world.aggregator.pid)

    def come_to_rest(self, seconds: float) -> None:
        """No new round is opened, and everybody has settled the last one."""
        world = self.world
        world.ask(lambda api: api.stop(world.run, world.run_operator))
        world.wait_until(self._is_at_rest, "rest", seconds, pause_seconds=0.3)

    def seen(self) -> Seen:
        return Seen(self._witness.acknowledged, self._witness.slots, self._witness.second_releases)

    def client_states(self) -> list[ClientState]:
        return [self._state(member) for member in self.members]

    def _is_at_rest(self) -> bool:
        status = self.world.ask(lambda api: api.run(self.world.run, self.world.run_operator))
        rounds = self.rounds()
        return (
            status.state is RunState.STOPPED
            and all(outcome.state.is_settled for outcome in rounds)
            and all(self._checkpoint(m).settled == len(rounds) for m in self.members)
        )

    def _state(self, member: Member) -> ClientState:
        checkpoint = self._checkpoint(member)
        lines = member.state.ledger.read_text().splitlines()[1:]
        return ClientState(
            member.name,
            member.coordinate,
            checkpoint.parameters,
            checkpoint.settled,
            tuple(json.loads(line)["round"] for line in lines),
        )

    def _checkpoint(self, member: Member) -> Checkpoint:
        path = member.state.run(self.world.run).checkpoint
        checkpoint = ModelStore(path).load(self._document.sha256, PARAMETERS)
        assert checkpoint is not None, f"{member.process.name} has no checkpoint"
        return checkpoint


@contextmanager
def troubled_federation(
    folder: Path, clients: int, witness: UploadWitness, plan_of: PlanOf, rounds: dict[str, Any]
) -> Iterator[TroubledFederation]:
    """Ready, and with all clients enrolled."""
    with ExitStack() as stack:
        here = world(
            folder,
            for_key_server={"access_token_seconds": 35},  # asked for anew every 5 s
            for_aggregator={"processes": 2, "online_seconds": 5},
        )
        federation = stack.enter_context(here)
        network = stack.enter_context(Network(witness))
        initial = initial_model("synthetic", OPTIONS, seed=0)
        wanted = document(
            initial,
            task={"name": "synthetic", "options": {**OPTIONS, "shards": clients}},
            training={"learning_rate": 1.0},
            shuffle={"k1": PARAMETERS // 2, "k2": 2},
            noise=NOISE,
            value_bits=16,
            norm_bound=None,
            rounds=rounds,
        ).model_dump(mode="json", exclude={"key"})
        frozen = federation.create_run(wanted, initial)
        members = tuple(
            _start(federation, network, f"client-{number}", number, plan_of)
            for number in range(clients)
        )
        federation.wait_until(lambda: all(m.is_enrolled() for m in members), "enrolment of all")
        yield TroubledFederation(federation, frozen, members, witness)


def _start(world: World, network: Network, name: str, shard: int, plan_of: PlanOf) -> Member:
    process = world.start_client(
        name,
        keyserver_url=network.link(world.key_server.address, plan_of(f"{name} key server")),
        aggregator_url=network.link(world.aggregator.address, plan_of(f"{name} aggregator")),
        shard=shard,
        max_epsilon=1e12,
        min_laplace_scale=NOISE["laplace_scale"],
    )
    return Member(process, shard, StateDirectory(world.folder.state(name)))


def kill(pid: int) -> None:
    """This process alone, as the system would if it were short of memory."""
    os.kill(pid, signal.SIGKILL)
