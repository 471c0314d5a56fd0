"""Rounds as they are told: outcomes, reports, aggregates."""

from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.clock import Clock
from fedperm.errors import GoneError, InvalidRequestError
from fedperm.ids import RoundNumber, RunName
from fedperm.run_document import RunDocument
from fedperm.submissions import UPDATE
from fedperm.wire.aggregator import (
    ClientReport,
    KeyEpoch,
    RoundOutcome,
    RoundReport,
    RoundState,
    SubmissionReport,
)
from fedperm_aggregator import blob_names
from fedperm_aggregator.authorization import Participant
from fedperm_aggregator.participants import Participants
from fedperm_aggregator.presence import Presence
from fedperm_aggregator.records import NewerEpoch, SubmissionPlace
from fedperm_aggregator.run_documents import RunDocuments, usable_record
from fedperm_aggregator.stores import Stores

_MOST_REMEMBERED = 64
"""Outcomes of settled rounds; the oldest is forgotten first."""


class Rounds:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        blobs: BlobStore,
        participants: Participants,
        presence: Presence,
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._documents = documents
        self._blobs = blobs
        self._participants = participants
        self._presence = presence
        self._clock = clock
        self._settled: dict[tuple[RunName, RoundNumber], RoundOutcome] = {}

    def outcome(self, run: RunName, number: RoundNumber) -> RoundOutcome:
        """Once a round is settled it never changes, and all clients ask for it at once."""
        outcome = self.remembered(run, number) or self._stores.reports.outcome(run, number)
        if outcome.state.is_settled:
            self._settled[run, number] = outcome
            for oldest in list(self._settled)[:-_MOST_REMEMBERED]:
                self._settled.pop(oldest, None)
        return outcome

    def remembered(self, run: RunName, number: RoundNumber) -> RoundOutcome | None:
        """The outcome, if it is known without the database."""
        return self._settled.get((run, number))

    def report(self, run: RunName, number: RoundNumber) -> RoundReport:
        return self._stores.reports.round(run, number)

    def reports(self, run: RunName) -> tuple[RoundReport, ...]:
        return self._stores.reports.rounds(run)

    def submission(self, place: SubmissionPlace) -> SubmissionReport:
        return self._stores.reports.submission(place)

    def aggregate(self, run: RunName, number: RoundNumber) -> BlobRef | None:
        """None until it is there."""
        outcome = self.outcome(run, number)
        if outcome.state is RoundState.ABORTED:
            raise GoneError(f"round {number} was aborted: {outcome.reason}", "settle it so")
        if outcome.aggregate is None:
            return None
        sha256, size = outcome.aggregate.sha256, outcome.aggregate.size
        return self._blobs.ref(blob_names.aggregate(run, number, sha256), sha256, size)

    def decline(
        self, run: RunName, number: RoundNumber, who: Participant, message: KeyEpoch
    ) -> None:
        """Whoever was revoked may hold the round's key: the client waits for a newer one's."""
        self._participants.check(run, who)
        record = usable_record(message.record, self._documents.of(run).content)
        now = self._clock.now()
        self._presence.heard(run, who.client, now)
        place = SubmissionPlace(UPDATE.name, run, number, who.client)
        newer = NewerEpoch(record.epoch, message.record)
        self._stores.submissions.decline(place, newer, now)

    def add_report(
        self, run: RunName, number: RoundNumber, who: Participant, report: ClientReport
    ) -> None:
        self._participants.check(run, who)
        self._check(report, self._documents.of(run).content)
        now = self._clock.now()
        self._presence.heard(run, who.client, now)
        self._stores.reports.add(run, number, who.client, report, now)

    def _check(self, report: ClientReport, document: RunDocument) -> None:
        """Of a report that nobody has opened. What is sealed cannot be looked into."""
        measured = report.measured
        if measured is not None and report.sealed is not None:
            raise InvalidRequestError(
                "the report is sealed and in the clear at once", "send one of both"
            )
        loss = None if measured is None else measured.train_loss
        if loss is not None and not document.local_metrics:
            raise InvalidRequestError(
                "train_loss is an unnoised release that this run does not ask for", "leave it out"
            )
