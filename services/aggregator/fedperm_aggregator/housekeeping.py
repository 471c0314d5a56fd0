"""Blobs that nobody needs any more: what was sent for closed rounds, and what a crash left."""

import logging
from collections.abc import Collection

from fedperm.blobs.store import BlobStore
from fedperm.errors import ParameterError
from fedperm.ids import RunName
from fedperm_aggregator import blob_names
from fedperm_aggregator.rounds.phases import RoundPhases
from fedperm_aggregator.run_documents import RunDocuments
from fedperm_aggregator.stores import Stores

log = logging.getLogger(__name__)


class Housekeeping:
    def __init__(self, stores: Stores, documents: RunDocuments, blobs: BlobStore) -> None:
        self._stores = stores
        self._documents = documents
        self._blobs = blobs

    def scrub(self) -> None:
        """First what was sent, then the mark: a crash in between scrubs again."""
        for name in self._stores.rounds.to_scrub():
            phases = self._phases(name.run)
            if phases is not None:
                for kind in phases.kinds(kept=False):
                    folder = blob_names.submissions_folder(kind, name.run, name.number)
                    self._blobs.remove_all(folder)
                self._stores.rounds.mark_scrubbed(name)

    def sweep(self) -> None:
        """At the start, before anybody uploads. Blobs of runs that the database does not know are
        left alone: it may be the wrong database."""
        swept = self._blobs.sweep_incoming()
        for run in self._stores.runs.names():
            phases = self._phases(run)
            if phases is not None:
                needed = self._needed(run, phases.kinds(kept=True))
                swept += self._blobs.sweep(blob_names.run_folder(run), needed)
        if swept:
            log.info("swept %d blobs that a crash left behind", swept)

    def _phases(self, run: RunName) -> RoundPhases | None:
        """None if the run cannot be read, of which the scheduler tells: then nobody knows what it
        needs, so nothing of it is removed, and the other runs go on."""
        try:
            return self._documents.phases(run)
        except ParameterError:
            return None

    def _needed(self, run: RunName, kept: Collection[str]) -> set[str]:
        waiting = self._stores.submissions.waiting(run, kept)
        submissions = {blob_names.submission(place, sha256) for place, sha256 in waiting}
        aggregates = {
            blob_names.aggregate(run, number, sha256)
            for number, sha256 in self._stores.rounds.aggregates(run).items()
        }
        model = {blob_names.initial_model(run)} if self._stores.runs.has_model(run) else set()
        offered = self._stores.checkpoints.offered(run)
        checkpoint = set() if offered is None else {blob_names.checkpoint(offered)}
        return submissions | aggregates | model | checkpoint
