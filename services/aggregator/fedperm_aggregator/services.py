"""Everything that routes may call."""

from dataclasses import dataclass

from fedperm_aggregator.changes import Changes
from fedperm_aggregator.contributions import Contributions
from fedperm_aggregator.dashboard.dashboard import Dashboard
from fedperm_aggregator.event_stream import EventStream
from fedperm_aggregator.foreman import Foreman
from fedperm_aggregator.gate import Gate
from fedperm_aggregator.lane import Lane
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.polls import Polls
from fedperm_aggregator.rounds import Rounds
from fedperm_aggregator.runs import Runs


@dataclass(frozen=True)
class Services:
    gate: Gate
    runs: Runs
    participants: Participants
    polls: Polls
    contributions: Contributions
    rounds: Rounds
    events: EventStream
    foreman: Foreman
    lane: Lane
    changes: Changes
    dashboard: Dashboard
