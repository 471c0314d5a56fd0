"""Where each client is in the newest round, from what the aggregator knows and nothing else."""

from fedperm.wire.aggregator import ParticipantStatus, RoundReport, RoundState, SubmissionState
from fedperm_aggregator.dashboard.views import Client, Standing

_OF_UPDATES = {
    SubmissionState.STORED: Standing.UPLOADED,
    SubmissionState.VALID: Standing.CHECKED,
    SubmissionState.REJECTED: Standing.REJECTED,
    SubmissionState.INCLUDED: Standing.INCLUDED,
    SubmissionState.DROPPED: Standing.DROPPED,
}


def client_view(who: ParticipantStatus, newest: RoundReport | None, now: float) -> Client:
    updates = () if newest is None else newest.updates
    reasons = [update.reason for update in updates if update.client == who.client]
    return Client(
        client=who.client,
        online=who.online,
        doing=who.phase,
        standing=standing(who, newest, now),
        reason=reasons[0] if reasons else "",
    )


def standing(who: ParticipantStatus, newest: RoundReport | None, now: float) -> Standing:
    if newest is not None:
        for update in newest.updates:
            if update.client == who.client:
                return _OF_UPDATES[update.state]
    if who.excluded:
        return Standing.EXCLUDED
    if newest is None or who.client not in newest.outcome.selected:
        return Standing.NOT_ASKED
    return _without_update(newest, now)


def _without_update(newest: RoundReport, now: float) -> Standing:
    """Of a client that was asked and has sent nothing."""
    if newest.outcome.state is not RoundState.OPEN:
        return Standing.MISSED
    is_late = newest.extensions > 0 or now > newest.deadline_at
    return Standing.LATE if is_late else Standing.AWAITED
