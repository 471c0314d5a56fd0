"""The task "train": train, noise, shuffle, encrypt, keep, charge, send. In this order."""

import asyncio
import logging
from typing import Any

from numpy.typing import NDArray

from fedperm.errors import BudgetError, UntrustedError
from fedperm.ids import RoundNumber
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import Phase, SubmissionState, Task
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.joined_run import JoinedRun
from fedperm_client.outbox import PreparedSubmission

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 5.0
"""Between two questions, should the aggregator ask again for what was declined."""


async def submit_update(run: JoinedRun, task: Task) -> None:
    """Sends what was prepared before, if it was: never a second noise for one round."""
    run.check_is_next(task)
    if task.epoch < await run.keyring.newest(task.round):
        await _decline(run, task)
        return
    upload = await asyncio.to_thread(run.outbox.find, UPDATE, task.round)
    if upload is None:
        upload = await _prepare(run, task)
    elif upload.epoch != task.epoch:
        raise UntrustedError(
            f"round {task.round} was under key epoch {upload.epoch} and is now under {task.epoch}",
            "do not take part: the key of an open round does not change",
        )
    await asyncio.to_thread(_charge, run, upload)
    receipt = await run.submit(UPDATE, upload)
    if receipt is not None and receipt.state is SubmissionState.REJECTED:
        log.warning("round %d: the aggregator refuses this update", task.round)


async def _decline(run: JoinedRun, task: Task) -> None:
    """Nothing leaves under a key that a revoked client may hold, also what was prepared before. The
    newer epoch's record is brought to the run: an aggregator that uses it goes on at once, another
    gets nothing more from this client."""
    newest = await run.keyring.newest(task.round)
    if run.declined != task.round:
        log.warning(
            "round %d is under key epoch %d, and the key has epoch %d: this client sends nothing, "
            "and waits for a round under the newest epoch (fedperm run rekey %s)",
            *(task.round, task.epoch, newest, run.document.run),
        )
        record = await run.keyring.signed_record(newest)
        declining = run.session.decline(task.round, record)
        await run.tell(f"round {task.round}: the newer key", declining)
        run.declined = task.round
    await asyncio.sleep(min(_PAUSE_SECONDS, run.poll_seconds))


async def _prepare(run: JoinedRun, task: Task) -> PreparedSubmission:
    key = await run.keyring.for_encryption(task.epoch)
    with run.activity.during(Phase.TRAINING, task.round):
        coded = await asyncio.to_thread(_train_and_randomize, run)
    with run.activity.during(Phase.ENCRYPTING, task.round):
        upload = await asyncio.to_thread(_encrypt_and_keep, run, task.round, coded, key)
    seconds = run.measured.seconds
    log.info(
        "round %d: trained in %.2f s, randomized in %.2f s, encrypted in %.2f s",
        *(task.round, seconds.train, seconds.randomize, seconds.encrypt),
    )
    return upload


def _train_and_randomize(run: JoinedRun) -> NDArray[Any]:
    with run.measured.timing("train"):
        movement = run.learner.update(run.checkpoint.parameters, run.preparation.randomness)
    with run.measured.timing("randomize"):
        return run.preparation.randomize(movement)


def _encrypt_and_keep(
    run: JoinedRun, number: RoundNumber, coded: NDArray[Any], key: EpochKey
) -> PreparedSubmission:
    with run.measured.timing("encrypt"):
        body = run.preparation.encrypt(coded, key)
    return run.outbox.put(UPDATE, number, key.epoch, body)


def _charge(run: JoinedRun, upload: PreparedSubmission) -> None:
    if run.ledger is None:
        return
    try:
        run.ledger.charge(upload)
    except BudgetError:
        run.outbox.discard(upload)
        raise
