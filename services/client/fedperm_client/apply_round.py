"""Takes a settled round into the model: read, check, decrypt, apply, keep."""

import asyncio
import logging
from dataclasses import dataclass, replace

from fedperm.aggregate import aggregate_body
from fedperm.wire.aggregator import Phase, RoundOutcome, RoundState
from fedperm.wire.model import Parameters
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    check_outcome,
    is_unaccounted,
)
from fedperm_client.joined_run import JoinedRun
from fedperm_client.measurements import Measurements
from fedperm_client.model_store import Checkpoint
from fedperm_client.outbox import PreparedUpload

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SettledRound:
    outcome: RoundOutcome
    checkpoint: Checkpoint


class Settler:
    def __init__(self, run: JoinedRun) -> None:
        self._run = run

    async def settle(self, before: Checkpoint, measured: Measurements) -> SettledRound:
        """The next round's outcome, applied once: the checkpoint is the last thing written."""
        number = before.settled + 1
        outcome = await self._run.session.outcome(number)
        own = await asyncio.to_thread(self._run.outbox.find, number)
        check_outcome(outcome, before, own)
        movement = await self._movement(outcome, own, measured)
        parameters = before.parameters if movement is None else before.parameters + movement
        after = replace(before, parameters=parameters, settled=number, epoch=outcome.epoch)
        await asyncio.to_thread(self._run.store.save, after)
        await asyncio.to_thread(self._run.outbox.clear, number)
        return SettledRound(outcome, after)

    async def _movement(
        self, outcome: RoundOutcome, own: PreparedUpload | None, measured: Measurements
    ) -> Parameters | None:
        """None if the round was aborted."""
        if outcome.state is RoundState.ABORTED:
            return None
        run = self._run
        may_have_sent = await asyncio.to_thread(self._may_have_sent, outcome.round, own)
        check_members(outcome, run.document, run.client, may_have_sent=may_have_sent)
        if is_unaccounted(outcome, run.client, own):
            await self._ask_why(outcome.round)
        key = await run.keyring.for_decryption(outcome.epoch)
        size = aggregate_body(run.document.plan).size
        body = await run.session.aggregate(outcome.round, size)
        measured.bytes_down = len(body)
        with run.activity.during(Phase.DECRYPTING, outcome.round), measured.timing("decrypt"):
            return await asyncio.to_thread(
                averaged, body, outcome, run.document, key, run.min_contributors
            )

    def _may_have_sent(self, number: int, own: PreparedUpload | None) -> bool:
        """In a replay the upload is gone, but its charge is not; without a ledger nobody knows."""
        ledger = self._run.ledger
        return own is not None or ledger is None or ledger.has_charged(number)

    async def _ask_why(self, number: int) -> None:
        report = await self._run.session.update_report(number)
        check_explanation(report, number)
        log.warning("round %d: this client's update was left out: %s", number, report.reason)
