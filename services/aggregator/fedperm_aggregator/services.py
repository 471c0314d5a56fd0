"""Everything that routes may call."""

from dataclasses import dataclass

from fedperm.dashboard.dashboard import Dashboard
from fedperm.run_notifier import RunNotifier
from fedperm_aggregator.authorization import Authorization
from fedperm_aggregator.background import BackgroundLoop
from fedperm_aggregator.checkpoints import Checkpoints
from fedperm_aggregator.event_stream import EventStream
from fedperm_aggregator.lane import Lane
from fedperm_aggregator.long_poll import LongPolls
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.rounds.results import Rounds
from fedperm_aggregator.runs import Runs
from fedperm_aggregator.submissions.intake import Intake


@dataclass(frozen=True)
class Services:
    authorization: Authorization
    runs: Runs
    participants: Participants
    polls: LongPolls
    intake: Intake
    rounds: Rounds
    checkpoints: Checkpoints
    events: EventStream
    background: BackgroundLoop
    lane: Lane
    notifier: RunNotifier
    dashboard: Dashboard
