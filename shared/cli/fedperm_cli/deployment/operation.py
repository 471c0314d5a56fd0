"""What the operator's container does: a key, a token, a run; then it watches until the end."""

import time
from dataclasses import dataclass

from fedperm.api.connection import Patience
from fedperm.clock import Clock
from fedperm.errors import RefusedError
from fedperm.wire.aggregator import RunStatus
from fedperm_cli.deployment.options import OperationOptions, run_options, task_name, task_options
from fedperm_cli.deployment.pool_token import provide_token
from fedperm_cli.federation.operation import Operators
from fedperm_cli.measures import as_seconds, as_time
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.progress_lines import Teller
from fedperm_cli.run.document_words import differences, in_words
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.outcome import RunOutcome
from fedperm_cli.run.preparation import PreparedRun
from fedperm_cli.run.shards import smallest_shard
from fedperm_cli.run.specs import given_or, parse_task_options
from fedperm_cli.run.watching import View
from fedperm_cli.servers.options import AsKeyOperator, AsRunOperator
from fedperm_cli.servers.sessions import KeyOperator

_CONFLICT = 409


@dataclass(frozen=True)
class Operation:
    """Everything in it may be done again: what is there already stays as it is."""

    options: OperationOptions
    clock: Clock
    tell: Teller

    async def run(
        self,
        as_keys: AsKeyOperator,
        as_runs: AsRunOperator,
        identity: OperatorIdentity,
        view: View,
    ) -> RunOutcome:
        """Plays both operators, as containers on one machine do."""
        patience = Patience(self.options.wait_seconds)
        async with as_keys.session(patience) as keys, as_runs.session(patience) as runs:
            operators = Operators(keys, runs, identity)
            await runs.api.runs(runs.token)  # the aggregator is there, and the credential right
            await self._make_key(operators)
            await self._write_token(keys)
            prepared = await operators.prepare(self.options.run, self._run_options())
            self._tell_run(prepared, await _create(operators, prepared))
            status = await operators.watch(self.options.run, view, or_stopped=True)
            return (await operators.finished(status, prepared)).outcome()

    async def _make_key(self, operators: Operators) -> None:
        options = self.options
        begun_at = time.monotonic()
        status = await operators.make_key(options.key, options.key_bits)
        took = as_seconds(time.monotonic() - begun_at)
        self.tell("key", f"{options.key}, {status.scheme}, there after {took}")

    async def _write_token(self, operator: KeyOperator) -> None:
        options = self.options
        uses = given_or(options.token_uses, options.most_clients)
        status = await provide_token(operator, options.key, options.token_file, uses, self.clock)
        self.tell(
            "token",
            f"in {options.token_file}, {status.used} of {status.uses} clients enrolled with it, "
            f"good until {as_time(status.expires_at)}",
        )

    def _run_options(self) -> RunOptions:
        options = self.options
        given = parse_task_options(task_options(options))
        records = smallest_shard(task_name(options), given, options.shards, options.data)
        return run_options(options, records)

    def _tell_run(self, prepared: PreparedRun, status: RunStatus) -> None:
        document = prepared.document.content
        rounds = document.rounds
        self.tell("run", f"{document.run}: {in_words(document)}")
        for warning in prepared.planned.warnings:
            self.tell("warning", warning)
        self.tell(
            "clients",
            f"{rounds.start_with} to begin with, at least {rounds.min_contributors} in a sum",
        )
        self.tell("state", f"{status.state}: {status.reason}" if status.reason else status.state)


async def _create(operators: Operators, prepared: PreparedRun) -> RunStatus:
    try:
        return await operators.create(prepared)
    except RefusedError as refusal:
        if refusal.status != _CONFLICT:
            raise
        run = prepared.document.content.run
        there = (await operators.runs.api.document(run, operators.runs.token)).content
        differing = differences(prepared.document.content, there)
        raise RefusedError(
            f"there is a run {run} already, made with other options: {', '.join(differing)}",
            "choose another name with --run (RUN= for docker compose), or start anew: "
            "docker compose down -v",
            status=refusal.status,
            kind=refusal.kind,
        ) from None
