"""The task "settle": read, check, decrypt, apply, keep, record. In this order."""

import asyncio
import logging
import math
from dataclasses import replace

from fedperm.aggregate import aggregate_body
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import ClientReport, Phase, RoundOutcome, RoundState, Task
from fedperm.wire.model import Parameters
from fedperm_client.activity import Measurements
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    check_outcome,
    is_unaccounted,
)
from fedperm_client.joined_run import JoinedRun
from fedperm_client.outbox import PreparedSubmission
from fedperm_client.summary import RoundRecord

log = logging.getLogger(__name__)


async def apply_round(run: JoinedRun, task: Task) -> None:
    """The next round's outcome, applied once: nothing of it is on disk before the checkpoint is,
    and the client's own upload goes after that."""
    run.check_is_next(task)
    before, number = run.checkpoint, task.round
    outcome = await run.session.outcome(number)
    own = await asyncio.to_thread(run.outbox.find, UPDATE, number)
    check_outcome(outcome, before, own)
    parameters = before.parameters
    if outcome.state is not RoundState.ABORTED:
        parameters = parameters + await _average(run, outcome, own)
    after = replace(before, parameters=parameters, settled=number, epoch=outcome.epoch)
    await asyncio.to_thread(run.store.save, after)
    await asyncio.to_thread(run.outbox.clear, number)
    run.checkpoint = after
    record = await asyncio.to_thread(_record, run, outcome)
    run.measured, run.unreported = Measurements(), record
    _log(record)


async def _average(
    run: JoinedRun, outcome: RoundOutcome, own: PreparedSubmission | None
) -> Parameters:
    # in a replay the upload is gone, but its charge is not; without a ledger nobody knows
    may_have_sent = (
        own is not None
        or run.ledger is None
        or await asyncio.to_thread(run.ledger.has_charged, outcome.round)
    )
    check_members(outcome, run.document, run.client, may_have_sent=may_have_sent)
    if is_unaccounted(outcome, run.client, own):
        report = await run.session.submission(UPDATE, outcome.round)
        check_explanation(report, outcome.round)
        log.warning("round %d: this client's update was left out: %s", outcome.round, report.reason)
    key = await run.keyring.for_decryption(outcome.epoch)
    body = await run.session.aggregate(outcome.round, aggregate_body(run.document.plan).size)
    run.measured.bytes_down = len(body)
    with run.activity.during(Phase.DECRYPTING, outcome.round), run.measured.timing("decrypt"):
        return await asyncio.to_thread(
            averaged, body, outcome, run.document, key, run.min_contributors
        )


def _record(run: JoinedRun, outcome: RoundOutcome) -> RoundRecord:
    """What the round was like for this client, in its history and to be reported."""
    measured, loss = run.measured, None
    if run.reports_training_loss:
        loss = run.learner.training_loss(run.checkpoint.parameters)
    report = ClientReport(
        seconds=measured.seconds,
        bytes_up=measured.bytes_up,
        bytes_down=measured.bytes_down,
        test=run.test_metrics(),
        train_loss=loss if loss is not None and math.isfinite(loss) else None,
        ledger=None if run.ledger is None else run.ledger.report(),
    )
    record = RoundRecord(
        round=outcome.round,
        state=outcome.state,
        epoch=outcome.epoch,
        contributors=len(outcome.included),
        included=run.client in outcome.included,
        report=report,
        parameters_sha256=run.checkpoint.sha256,
    )
    run.history.add(record)
    return record


def _log(record: RoundRecord) -> None:
    if record.state is RoundState.ABORTED:
        log.warning("round %d: aborted, nothing to apply", record.round)
        return
    test = record.report.test
    accuracy = "" if test is None or test.accuracy is None else f", accuracy {test.accuracy:.4f}"
    log.info(
        "round %d: applied the average of %d clients%s",
        *(record.round, record.contributors, accuracy),
    )
