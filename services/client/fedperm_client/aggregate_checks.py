"""What a client believes of a settled round: checks first, then the average.

Whatever fails is an AggregateError without a decrypted value: errors travel, and the aggregator
may provoke them. Nothing is applied then.
"""

import numpy as np

from fedperm.aggregate import average_update, check_sums, decode_aggregate
from fedperm.errors import AggregateError
from fedperm.ids import ClientName, RoundNumber
from fedperm.norm_bound import NormBound
from fedperm.run_document import RunDocument
from fedperm.wire.aggregator import RoundOutcome, RoundState, SubmissionReport, SubmissionState
from fedperm.wire.digest import sha256_of
from fedperm.wire.model import Parameters
from fedperm_client.epoch_keys import EpochKey
from fedperm_client.model_store import Checkpoint
from fedperm_client.outbox import PreparedSubmission

_ROUNDING = 1 + 1e-9
"""The norm of a mean is computed in floating point, that of each update was exact."""

_HINT = "do not apply it; ask the run's operator what happened"


def check_outcome(
    outcome: RoundOutcome, before: Checkpoint, own: PreparedSubmission | None
) -> None:
    """It is the next round, it is settled, and its key is not older than the one before."""
    number = before.settled + 1
    if outcome.round != number or not outcome.state.is_settled:
        raise AggregateError(
            f"asked for the outcome of round {number}, got round {outcome.round}, "
            f"{outcome.state.value}",
            _HINT,
        )
    if outcome.epoch < before.epoch or (own is not None and own.epoch != outcome.epoch):
        raise AggregateError(
            f"round {number} is said to be under key epoch {outcome.epoch}, which is not the one "
            "before or a newer one, or not the one of this client's update",
            _HINT,
        )


def check_members(
    outcome: RoundOutcome, document: RunDocument, client: ClientName, *, may_have_sent: bool
) -> None:
    """Who is in a published sum: each once, all of them asked, and this client only if it sent."""
    members = set(outcome.included)
    if len(members) != len(outcome.included) or not members <= set(outcome.selected):
        raise AggregateError(
            f"round {outcome.round} counts clients twice, or some that were not asked", _HINT
        )
    if len(outcome.selected) > document.rounds.clients_per_round:
        raise AggregateError(
            f"round {outcome.round} asked more clients than the run's document allows", _HINT
        )
    if client in members and not may_have_sent:
        raise AggregateError(
            f"round {outcome.round} counts an update that this client did not send",
            "do not apply it; somebody may use this client's keys, or its state is an old copy",
        )


def is_unaccounted(
    outcome: RoundOutcome, client: ClientName, own: PreparedSubmission | None
) -> bool:
    """An acknowledged update that is not in the published sum: the aggregator must say why."""
    return (
        outcome.state is RoundState.PUBLISHED
        and own is not None
        and own.acknowledged
        and client not in outcome.included
    )


def check_explanation(report: SubmissionReport, number: RoundNumber) -> None:
    """Rejected, or dropped since the aggregator could not check it; either with a reason."""
    if report.state not in {SubmissionState.REJECTED, SubmissionState.DROPPED} or not report.reason:
        raise AggregateError(
            f"round {number} leaves out this client's acknowledged update without a reason", _HINT
        )


def averaged(
    body: bytes, outcome: RoundOutcome, document: RunDocument, key: EpochKey, min_contributors: int
) -> Parameters:
    """The mean of the contributors' updates. Decrypts: keep off the event loop."""
    contributors = _contributors(
        body, outcome, max(min_contributors, document.rounds.min_contributors)
    )
    plan = document.plan
    total = decode_aggregate(body, plan, key.terms.half)
    if total.contributors != contributors:
        raise AggregateError(
            f"the aggregate of round {outcome.round} has another count than its outcome", _HINT
        )
    sums = key.decrypt(total)
    check_sums(sums, contributors, plan)
    if document.bound is not None:
        mean = plan.fixed_point.decode_mean(sums, contributors)
        _check_norm(mean, document.bound)
    return average_update(sums, contributors, plan, document.noise.clip)


def _contributors(body: bytes, outcome: RoundOutcome, at_least: int) -> int:
    """The count, if body and members agree with it and they are enough."""
    reference = outcome.aggregate
    if reference is None or (reference.sha256, reference.size) != (sha256_of(body), len(body)):
        raise AggregateError(
            f"the aggregate of round {outcome.round} is not the one of its outcome", _HINT
        )
    if reference.contributors != len(outcome.included) or reference.contributors < at_least:
        raise AggregateError(
            f"round {outcome.round} is the sum of {reference.contributors} client(s) and names "
            f"{len(outcome.included)}; at least {at_least} are wanted",
            "do not apply it: a sum of too few shows their updates",
        )
    return reference.contributors


def _check_norm(mean: Parameters, bound: NormBound) -> None:
    """A mean of vectors within the bound is within the bound."""
    if float(np.linalg.norm(mean - bound.form.origin)) > bound.limit * _ROUNDING:
        raise AggregateError(
            "the average is longer than the run's norm bound admits",
            "a client sent a mask that is no permutation, or it is no average: do not apply it",
        )
