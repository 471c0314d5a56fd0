"""The database behind the domain: one store per noun, one transaction per method."""

from dataclasses import dataclass

from fedperm.database import Database
from fedperm_aggregator.stores.checkpoints import CheckpointStore
from fedperm_aggregator.stores.events import EventStore
from fedperm_aggregator.stores.jobs import JobStore
from fedperm_aggregator.stores.participants import ParticipantStore
from fedperm_aggregator.stores.reports import ReportStore
from fedperm_aggregator.stores.rounds import RoundStore
from fedperm_aggregator.stores.runs import RunStore
from fedperm_aggregator.stores.submissions import SubmissionStore


@dataclass(frozen=True)
class Stores:
    runs: RunStore
    participants: ParticipantStore
    rounds: RoundStore
    submissions: SubmissionStore
    reports: ReportStore
    jobs: JobStore
    events: EventStore
    checkpoints: CheckpointStore


def open_stores(database: Database) -> Stores:
    return Stores(
        RunStore(database),
        ParticipantStore(database),
        RoundStore(database),
        SubmissionStore(database),
        ReportStore(database),
        JobStore(database),
        EventStore(database),
        CheckpointStore(database),
    )
