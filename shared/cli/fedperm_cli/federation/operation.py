"""What the operators of a federation do: a key, a token, a run; then they watch until the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fedperm.api.connection import Patience
from fedperm.ids import KeyName, RunName
from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.wire.aggregator import RoundReport, RunStatus
from fedperm.wire.key_server import KeyRequest, KeyStatus, TokenRequest, TokenStatus
from fedperm.wire.statements import SchemeSpec
from fedperm_cli.client.tokens import issue_token
from fedperm_cli.federation.launcher import Launcher
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.reports import ReportOpener
from fedperm_cli.run.creation import create_run
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.outcome import RunOutcome
from fedperm_cli.run.preparation import PreparedRun, prepare
from fedperm_cli.run.round_summary import summarise
from fedperm_cli.run.watching import View, Watch
from fedperm_cli.servers.sessions import (
    PATIENCE,
    KeyOperator,
    RunOperator,
    Server,
    key_operator,
    run_operator,
)


@dataclass(frozen=True)
class FinishedRun:
    """A run that is over, as its operators know it."""

    status: RunStatus
    prepared: PreparedRun
    rounds: tuple[RoundReport, ...]

    def outcome(self) -> RunOutcome:
        return RunOutcome(
            state=self.status.state,
            reason=self.status.reason,
            document=self.status.document,
            parameters=self.prepared.document.content.model.parameters,
            count=self.prepared.document.content.rounds.count,
            rounds=tuple(summarise(report) for report in self.rounds),
            report=self.prepared.planned.report,
        )


@dataclass(frozen=True)
class Operators:
    """Key operator and run operator in one place: apart from demos and tests, these are two people
    with a token each. `identity` is the run operator's."""

    keys: KeyOperator
    runs: RunOperator
    identity: OperatorIdentity

    async def make_key(self, key: KeyName, key_bits: int) -> KeyStatus:
        wanted = KeyRequest(scheme=SchemeSpec.of_bits(key_bits))
        return await self.keys.api.create_key(key, wanted, self.keys.token)

    async def make_token(self, key: KeyName, uses: int, file: Path) -> TokenStatus:
        """With which so many clients can enrol."""
        return (await issue_token(self.keys, key, TokenRequest(uses=uses), file)).status

    async def prepare(self, run: RunName, options: RunOptions) -> PreparedRun:
        return await prepare(run, options, self.keys.api, self.identity)

    async def create(self, prepared: PreparedRun) -> RunStatus:
        return await create_run(prepared, self.keys.api, self.runs)

    async def watch(self, run: RunName, view: View, *, or_stopped: bool = False) -> RunStatus:
        watch = Watch(self.runs, run, view, self.identity)
        return await watch.until_over(or_stopped=or_stopped)

    async def finished(self, status: RunStatus, prepared: PreparedRun) -> FinishedRun:
        """With reports opened."""
        listed = await self.runs.api.rounds(status.run, self.runs.token)
        opener = ReportOpener.of(prepared.document, self.identity)
        rounds = tuple(opener.open(report).report for report in listed.rounds)
        return FinishedRun(status, prepared, rounds)


@asynccontextmanager
async def operators_of(
    launcher: Launcher, patience: Patience = PATIENCE
) -> AsyncIterator[Operators]:
    """Of servers that were launched here."""
    servers, folder = launcher.servers, launcher.folder
    async with (
        key_operator(
            Server(servers[KEY_SERVER].address, patience=patience),
            folder.operator_token(KEY_SERVER),
        ) as keys,
        run_operator(
            Server(servers[AGGREGATOR].address, patience=patience),
            folder.operator_token(AGGREGATOR),
        ) as runs,
    ):
        yield Operators(keys, runs, launcher.operator_identity())
