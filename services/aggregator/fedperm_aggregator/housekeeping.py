"""Files that nobody needs any more: uploads of settled rounds, and what a crash left behind."""

import logging
from pathlib import Path

from fedperm_aggregator.blobs import Blobs
from fedperm_aggregator.stores import Stores

log = logging.getLogger(__name__)


class Housekeeping:
    def __init__(self, stores: Stores, blobs: Blobs) -> None:
        self._stores = stores
        self._blobs = blobs

    def scrub(self) -> None:
        """First the files, then the mark: a crash in between scrubs again."""
        for name in self._stores.rounds.to_scrub():
            self._blobs.scrub(name.run, name.number)
            self._stores.rounds.mark_scrubbed(name)

    def sweep(self) -> None:
        """At the start, before anybody uploads. Folders of runs that the database does not know
        are left alone: it may be the wrong database."""
        swept = self._blobs.sweep_incoming()
        for run in self._stores.runs.names():
            swept += self._blobs.sweep_run(run, self._needed(run))
        if swept:
            log.info("swept %d files that a crash left behind", swept)

    def _needed(self, run: str) -> set[Path]:
        uploads = {self._blobs.upload(run, *which) for which in self._stores.updates.waiting(run)}
        aggregates = {
            self._blobs.aggregate(run, number, sha256)
            for number, sha256 in self._stores.rounds.aggregates(run).items()
        }
        model = {self._blobs.initial_model(run)} if self._stores.runs.has_model(run) else set()
        return uploads | aggregates | model
