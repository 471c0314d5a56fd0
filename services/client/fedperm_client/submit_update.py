"""A client's part in a round: train, noise, shuffle, encrypt, keep, charge, send. In this order."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from fedperm.errors import BudgetError, RefusedError, UntrustedError
from fedperm.wire.aggregator import Phase, SubmissionState, Task
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.joined_run import JoinedRun
from fedperm_client.measurements import Measurements
from fedperm_client.outbox import PreparedUpload

log = logging.getLogger(__name__)


class Contributor:
    """`key` is the one under which blinding factors are made while there is nothing to do."""

    def __init__(self, run: JoinedRun, key: EpochKey | None) -> None:
        self._run = run
        self._key = key

    async def contribute(self, task: Task, parameters: Parameters, measured: Measurements) -> None:
        """Sends what was prepared before, if it was: never a second noise for one round."""
        upload = await asyncio.to_thread(self._run.outbox.find, task.round)
        if upload is None:
            upload = await self._prepare(task, parameters, measured)
        elif upload.epoch != task.epoch:
            raise UntrustedError(
                f"round {task.round} was under key epoch {upload.epoch} and is now under "
                f"{task.epoch}",
                "do not take part: the key of an open round does not change",
            )
        await asyncio.to_thread(self._charge, upload)
        await self._send(upload, measured)

    @contextmanager
    def filling_the_pool(self) -> Iterator[None]:
        """While waiting: as many blinding factors as one round takes, not more."""
        if self._key is None:
            yield
            return
        with self._key.encoder.filling():
            yield

    async def _prepare(
        self, task: Task, parameters: Parameters, measured: Measurements
    ) -> PreparedUpload:
        key = self._key = await self._run.keyring.for_encryption(task.epoch)
        activity = self._run.activity
        with activity.during(Phase.TRAINING, task.round):
            coded = await asyncio.to_thread(self._train, parameters, measured)
        with activity.during(Phase.ENCRYPTING, task.round):
            upload = await asyncio.to_thread(self._keep, task.round, coded, key, measured)
        seconds = measured.seconds
        log.info(
            "round %d: trained in %.2f s, randomized in %.2f s, encrypted in %.2f s",
            *(task.round, seconds.train, seconds.randomize, seconds.encrypt),
        )
        return upload

    def _train(self, parameters: Parameters, measured: Measurements) -> NDArray[Any]:
        preparation = self._run.preparation
        with measured.timing("train"):
            movement = self._run.learner.update(parameters, preparation.randomness)
        with measured.timing("randomize"):
            return preparation.randomize(movement)

    def _keep(
        self, number: int, coded: NDArray[Any], key: EpochKey, measured: Measurements
    ) -> PreparedUpload:
        with measured.timing("encrypt"):
            body = self._run.preparation.encrypt(coded, key)
        return self._run.outbox.put(number, key.epoch, body)

    def _charge(self, upload: PreparedUpload) -> None:
        if self._run.ledger is None:
            return
        try:
            self._run.ledger.charge(upload)
        except BudgetError:
            self._run.outbox.discard(upload)
            raise

    async def _send(self, upload: PreparedUpload, measured: Measurements) -> None:
        body = await asyncio.to_thread(upload.read)
        session, number = self._run.session, upload.round
        try:
            with self._run.activity.during(Phase.UPLOADING, number), measured.timing("upload"):
                receipt = await session.upload(self._run.frozen, number, upload.epoch, body)
        except RefusedError as refusal:
            if refusal.status != 410:
                raise
            log.warning("round %d: too late, it goes on without this update", number)
            return
        if receipt.sha256 != sha256_of(body):
            raise UntrustedError(
                f"the receipt of round {number} is for another upload", "ask the run's operator"
            )
        measured.bytes_up = len(body)
        await asyncio.to_thread(self._run.outbox.acknowledge, upload)
        log.info("round %d: uploaded %s octets", number, f"{len(body):,}")
        if receipt.state is SubmissionState.REJECTED:
            log.warning("round %d: the aggregator refuses this update", number)
