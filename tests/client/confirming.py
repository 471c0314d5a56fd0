"""A further phase, made by tests alone: after each round clients confirm the model they applied.

The kind of submission and the client's handler are what a product would have. The aggregator's
part is played between client and aggregator, so that only the client is looked at.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection
from fedperm.errors import UnreachableError
from fedperm.run_document import RunDocument
from fedperm.submissions import SUBMISSIONS, SubmissionKind
from fedperm.uploads.form import Accepted, UpdateTerms
from fedperm.wire.aggregator import RunState, SubmissionReceipt, SubmissionState, Task
from fedperm.wire.body import Body, Tensor
from fedperm.wire.digest import sha256_of
from fedperm_client.joined_run import JoinedRun
from fedperm_client.taking_part import TASK_HANDLERS

CONFIRM = "confirm"
_OCTETS = np.dtype(np.uint8)
_BODY = Body((Tensor("digest", _OCTETS, (32,)), Tensor("nonce", _OCTETS, (32,))))


class Confirmation:
    """The digest of the model, and a nonce by which two of them differ."""

    name: ClassVar[str] = "confirmation"
    path: ClassVar[str] = "confirmations"

    def body(self, _document: RunDocument) -> Body:
        return _BODY

    def examine(self, octets: memoryview, terms: UpdateTerms) -> Accepted:
        raise NotImplementedError("the aggregator's part is played here")


CONFIRMATION = Confirmation()


async def confirm(run: JoinedRun, task: Task) -> None:
    prepared = run.outbox.find(CONFIRMATION, task.round)
    if prepared is None:
        digest, nonce = bytes.fromhex(run.checkpoint.sha256), run.preparation.randomness.randbytes
        arrays = {"digest": digest, "nonce": nonce(32)}
        body = _BODY.encode({name: np.frombuffer(o, np.uint8) for name, o in arrays.items()})
        prepared = run.outbox.put(CONFIRMATION, task.round, task.epoch, body)
    await run.submit(CONFIRMATION, prepared)


@contextmanager
def confirmations_registered() -> Iterator[None]:
    with (
        SUBMISSIONS.registered(CONFIRMATION.name, CONFIRMATION),
        TASK_HANDLERS.registered(CONFIRM, confirm),
    ):
        yield


@dataclass
class Confirmed:
    """What one client sent, over all its starts: `bodies` by round, as often as they came. As many
    answers as `lost` says do not arrive."""

    lost: int = 0
    bodies: dict[int, list[bytes]] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)

    def digest(self, number: int) -> str:
        digest, _ = (array.tobytes() for array in _in_order(self.bodies[number][-1]))
        return digest.hex()

    def api(self, connection: Connection) -> AggregatorApi:
        return _ConfirmingAggregator(connection, self)


class _ConfirmingAggregator(AggregatorApi):
    """Asks for a confirmation of the settled round before anything else."""

    def __init__(self, connection: Connection, confirmed: Confirmed) -> None:
        super().__init__(connection)
        self._confirmed = confirmed

    async def next_task(self, run: str, client: str, settled: int, *rest: Any) -> Task:
        if settled > 0 and settled not in self._confirmed.answered:
            return Task.model_construct(
                kind=CONFIRM, round=settled, epoch=1, deadline_at=None, run_state=RunState.RUNNING
            )
        return await super().next_task(run, client, settled, *rest)

    async def submit(
        self, kind: SubmissionKind, run: str, number: int, client: str, body: bytes, *rest: Any
    ) -> SubmissionReceipt:
        if kind is not CONFIRMATION:
            return await super().submit(kind, run, number, client, body, *rest)
        self._confirmed.bodies.setdefault(number, []).append(body)
        if self._confirmed.lost > 0:
            self._confirmed.lost -= 1
            raise UnreachableError("the answer was lost", "try again")
        self._confirmed.answered.add(number)
        return SubmissionReceipt(
            sha256=sha256_of(body), state=SubmissionState.STORED, received_at=0.0
        )


def _in_order(body: bytes) -> Iterator[Any]:
    arrays = _BODY.decode(body)
    return (arrays[tensor.name] for tensor in _BODY.tensors)
