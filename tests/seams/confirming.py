"""A second phase, made by tests alone: after each round clients confirm what they applied.

A kind of submission, a phase of the aggregator and a handler of the client, each registered; the
product knows none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import BodyError
from fedperm.run_document import RunDocument
from fedperm.submissions import SUBMISSIONS, RoundContext
from fedperm.uploads.form import Accepted, UpdateTerms
from fedperm.wire.aggregator import RoundState, Task
from fedperm.wire.body import Body, Tensor
from fedperm_aggregator.rounds.phases import (
    PHASES,
    CollectingPhase,
    members_of_the_sum,
    min_contributors,
    nobody,
)
from fedperm_client.joined_run import JoinedRun
from fedperm_client.taking_part import TASK_HANDLERS

CONFIRM = "confirm"
_OCTETS = np.dtype(np.uint8)
_BODY = Body(tuple(Tensor(name, _OCTETS, (32,)) for name in ("aggregate", "model", "nonce")))


class Confirmation:
    """Digests of the aggregate and of the model that came of it, and a nonce by which two
    confirmations differ."""

    name: ClassVar[str] = "confirmation"
    path: ClassVar[str] = "confirmations"

    def body(self, _document: RunDocument) -> Body:
        return _BODY

    def glance(self, octets: memoryview, _terms: UpdateTerms) -> None:
        _BODY.decode(octets)

    def examine(self, octets: memoryview, context: RoundContext) -> Accepted:
        confirmed = _BODY.decode(octets)["aggregate"].tobytes().hex()
        if context.aggregate is None or confirmed != context.aggregate.sha256:
            raise BodyError("another aggregate is confirmed", "confirm the one of this round")
        return Accepted(norms=None)


CONFIRMATION = Confirmation()


AFTER_PUBLICATION = CollectingPhase(
    name=CONFIRM,
    follows="fold",
    state=RoundState.PUBLISHED,
    task=CONFIRM,
    collects=CONFIRMATION,
    asks=members_of_the_sum,
    needs=nobody,
)
BEFORE_PUBLICATION = replace(AFTER_PUBLICATION, state=RoundState.SEALED, needs=min_contributors)
"""Without enough confirmations of what clients have seen of the sum it is not published."""


async def confirm(run: JoinedRun, task: Task) -> None:
    """Made once: what was sent before is sent again unchanged."""
    prepared = run.outbox.find(CONFIRMATION, task.round)
    if prepared is None:
        aggregate = (await run.session.outcome(task.round)).aggregate
        assert aggregate is not None
        body = confirmation_of(
            aggregate.sha256, run.checkpoint.sha256, run.preparation.randomness.randbytes(32)
        )
        prepared = run.outbox.put(CONFIRMATION, task.round, task.epoch, body)
    await run.submit(CONFIRMATION, prepared)


def confirmation_of(aggregate: str, model: str, nonce: bytes) -> bytes:
    octets = (bytes.fromhex(aggregate), bytes.fromhex(model), nonce)
    names = (tensor.name for tensor in _BODY.tensors)
    return _BODY.encode(dict(zip(names, map(_array, octets), strict=True)))


def confirmed_model(body: bytes) -> str:
    return _BODY.decode(body)["model"].tobytes().hex()


@contextmanager
def asking_for_confirmations(phase: CollectingPhase = AFTER_PUBLICATION) -> Iterator[None]:
    """The aggregator's part; begin before the aggregator is made, since its routes are."""
    with (
        SUBMISSIONS.registered(CONFIRMATION.name, CONFIRMATION),
        PHASES.registered(CONFIRM, phase),
    ):
        yield


@contextmanager
def clients_that_confirm() -> Iterator[None]:
    with TASK_HANDLERS.registered(CONFIRM, confirm):
        yield


def _array(octets: bytes) -> NDArray[Any]:
    return np.frombuffer(octets, np.uint8)
