"""The task "settle": read, check, decrypt, apply, keep, record. In this order."""

import asyncio
import logging
from dataclasses import replace

from fedperm.aggregate import aggregate_body
from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.lineage import Lineage
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import ClientReport, Measured, Phase, RoundOutcome, RoundState, Task
from fedperm.wire.model import Parameters
from fedperm_client.activity import Measurements
from fedperm_client.aggregate_checks import (
    averaged,
    check_explanation,
    check_members,
    check_outcome,
    is_unaccounted,
)
from fedperm_client.errors import WithheldKeyError
from fedperm_client.joined_run import JoinedRun
from fedperm_client.late_start import start_late
from fedperm_client.model_store import Checkpoint
from fedperm_client.outbox import PreparedSubmission
from fedperm_client.summary import RoundRecord

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 5.0
"""Between two questions for a checkpoint."""


async def apply_round(run: JoinedRun, task: Task) -> None:
    """The next round's outcome. A client that comes late does not begin with the first round, if it
    is offered a later model; nor does one that is not given the round's key: it waits for one."""
    run.check_is_next(task)
    number, is_new = task.round, run.checkpoint.settled == NO_ROUND
    own = await asyncio.to_thread(run.outbox.find, UPDATE, number)
    if is_new and own is None and await start_late(run, RoundNumber(number + 1)):
        return
    try:
        await _settle(run, number, own)
    except WithheldKeyError as withheld:
        if not await start_late(run, number):
            await _wait_for_a_checkpoint(run, number, withheld)


async def _wait_for_a_checkpoint(
    run: JoinedRun, number: RoundNumber, withheld: WithheldKeyError
) -> None:
    """A client that was revoked is told so here, and waits no longer."""
    newest = await run.keyring.ask_newest()
    if run.withheld != number:
        run.withheld = number
        log.warning(
            "round %d cannot be replayed: %s; waiting for a checkpoint under key epoch %d that "
            "most contributors of its round have signed",
            *(number, withheld.message, newest),
        )
    await asyncio.sleep(min(_PAUSE_SECONDS, run.poll_seconds))


async def _settle(run: JoinedRun, number: RoundNumber, own: PreparedSubmission | None) -> None:
    """Applied once: nothing of it is on disk before the checkpoint is, and the client's own upload
    goes after that."""
    before, outcome = run.checkpoint, await run.session.outcome(number)
    check_outcome(outcome, before, own)
    after = replace(before, settled=number, epoch=outcome.epoch)
    if outcome.state is not RoundState.ABORTED:
        parameters = before.parameters + await _average(run, outcome, own)
        after = replace(after, parameters=parameters, lineage=_descent(before, outcome))
    await asyncio.to_thread(run.store.save, after)
    await asyncio.to_thread(run.outbox.clear, number)
    run.checkpoint = after
    if outcome.state is not RoundState.ABORTED:
        run.contributed = run.client in outcome.included
    record = await asyncio.to_thread(_record, run, outcome)
    run.measured, run.unreported = Measurements(), record
    _log(record)


def _descent(before: Checkpoint, outcome: RoundOutcome) -> Lineage | None:
    """Of the checked aggregate: its octets have this digest."""
    if before.lineage is None or outcome.aggregate is None:
        return None
    return before.lineage.after(outcome.round, outcome.epoch, outcome.aggregate.sha256)


async def _average(
    run: JoinedRun, outcome: RoundOutcome, own: PreparedSubmission | None
) -> Parameters:
    may_have_sent = own is not None or await run.may_have_sent(outcome.round)
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
    spent = run.measured
    report = ClientReport(
        seconds=spent.seconds,
        bytes_up=spent.bytes_up,
        bytes_down=spent.bytes_down,
        ledger=None if run.ledger is None else run.ledger.report(),
        measured=Measured(
            test=run.test_metrics(), train_loss=run.training_loss(), seconds=spent.seconds
        ),
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
