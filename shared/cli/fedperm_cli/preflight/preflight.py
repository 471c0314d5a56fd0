"""All checks in order. Whatever fails, the others are still made."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random

from fedperm.clock import Clock
from fedperm.contributors import contributors_warning
from fedperm.errors import FedPermError
from fedperm.run_document import RunDocument
from fedperm.schemes.registry import DEFAULT_SCHEME
from fedperm.services import AGGREGATOR, KEY_SERVER
from fedperm.wire.statements import EpochRecord
from fedperm_cli.plan.needs import Needs, needs_of
from fedperm_cli.preflight.dry_run import dry_round
from fedperm_cli.preflight.findings import Finding, State, failed, found_by, good, skipped, warned
from fedperm_cli.preflight.key_agreement import SHOWN, check_run_has, check_signer, record_of
from fedperm_cli.preflight.machine import (
    LEAST_DISK_BYTES,
    available_memory,
    look_at_disk,
    look_at_memory,
)
from fedperm_cli.preflight.options import PreflightOptions
from fedperm_cli.preflight.servers import look_at
from fedperm_cli.servers.sessions import RunOperator, key_server, operator_token, run_operator

_SEE_ABOVE = "mend what is said above"


@dataclass(frozen=True)
class Preflight:
    options: PreflightOptions
    clock: Clock
    randomness: Random

    async def findings(self) -> list[Finding]:
        asked = await self._servers()
        are_there = {finding.check: finding.state is State.GOOD for finding in asked}
        async with AsyncExitStack() as stack:
            token, operator = await self._operator(stack, is_there=are_there[AGGREGATOR.title])
            run, document = await self._run(operator)
            key = await self._key(document, operator, is_there=are_there[KEY_SERVER.title])
        return [*asked, token, run, _contributors(document), key, *self._machine(document)]

    async def _servers(self) -> list[Finding]:
        """Both at once: one that is away is waited for."""
        key_server, aggregator = await asyncio.gather(
            look_at(KEY_SERVER, self.options.key_server, self.clock),
            look_at(AGGREGATOR, self.options.aggregator_server, self.clock),
        )
        return [*key_server, *aggregator]

    async def _operator(
        self, stack: AsyncExitStack, *, is_there: bool
    ) -> tuple[Finding, RunOperator | None]:
        server, file = self.options.aggregator_server, self.options.run_operator_token_file
        if file is None:
            return skipped("token", "not given", "give --run-operator-token-file"), None
        try:
            operator_token(file)
            if server is None or not is_there:
                return skipped("token", "not tried: there is no aggregator", _SEE_ABOVE), None
            operator = await stack.enter_async_context(run_operator(server, file))
            await operator.api.runs(operator.token)
        except FedPermError as error:
            return failed("token", error.message, error.hint), None
        return good("token", f"the aggregator takes the one in {file}"), operator

    async def _run(self, operator: RunOperator | None) -> tuple[Finding, RunDocument | None]:
        run = self.options.run
        if run is None:
            hint = "give --run, --aggregator and --run-operator-token-file"
            return skipped("run", "not looked at", hint), None
        if operator is None:
            return failed("run", f"only its operator may look at {run}", _SEE_ABOVE), None
        try:
            document = (await operator.api.document(run, operator.token)).content
            status = await operator.api.run(run, operator.token)
        except FedPermError as error:
            return failed("run", error.message, error.hint), None
        words = f"{run} is {status.state}: {status.participants} clients have joined"
        return good("run", words), document

    async def _key(
        self, document: RunDocument | None, operator: RunOperator | None, *, is_there: bool
    ) -> Finding:
        name = self.options.key or (None if document is None else document.key.key)
        server = self.options.key_server
        if server is None or not is_there:
            return self._key_out_of_reach()
        if name is None:
            hint = "give --key or --run" if self.options.run is None else _SEE_ABOVE
            return skipped("key", "not looked at", hint)
        try:
            async with key_server(server) as keys:
                insecure = document is not None and document.insecure_for_tests
                record = await record_of(keys, name, insecure_for_tests=insecure)
                if document is None or operator is None:
                    return good("key", _words(record))
                await check_signer(keys, document)
                await check_run_has(operator, document, record)
        except FedPermError as error:
            return failed("key", error.message, error.hint)
        return good("key", f"{_words(record)}, the same at both servers")

    def _key_out_of_reach(self) -> Finding:
        """Whoever names a key wants to know of it."""
        key = self.options.key
        if key is None:
            return skipped("key", "not looked at", "give --keyserver and --key or --run")
        return failed("key", f"{key} cannot be looked at without the key server", _SEE_ABOVE)

    def _machine(self, document: RunDocument | None) -> list[Finding]:
        """Against what a client of the run needs, if a run is known."""
        scheme, needs = DEFAULT_SCHEME, Needs(LEAST_DISK_BYTES, None)
        if document is not None:
            scheme, needs = document.scheme, needs_of(document)
        return [
            look_at_disk(self.options.state_directory, needs.client_disk),
            look_at_memory(needs.client_memory, available_memory()),
            found_by("dry round", lambda: dry_round(scheme, self.randomness)),
        ]


def _contributors(document: RunDocument | None) -> Finding:
    check = "clients in a sum"
    if document is None:
        return skipped(check, "not looked at", "give --run")
    least = document.rounds.min_contributors
    warning = contributors_warning(least)
    if warning is None:
        return good(check, f"at least {least}")
    return warned(check, warning, "make a run with a larger --min-contributors")


def _words(record: EpochRecord) -> str:
    return (
        f"{record.key}, {record.scheme}, epoch {record.epoch}, fingerprint {record.key_id[:SHOWN]}"
    )
