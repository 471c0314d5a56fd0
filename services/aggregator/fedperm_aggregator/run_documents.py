"""Documents and public keys of runs: they never change, so they are parsed once."""

from functools import lru_cache

from fedperm.ids import EpochNumber, RunName
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.uploads.form import UpdateTerms
from fedperm.wire.public_keys import signing_key
from fedperm.wire.signed import verify
from fedperm.wire.statements import EpochRecord
from fedperm_aggregator.rounds.phases import RoundPhases, phases_of
from fedperm_aggregator.stores import Stores

_REMEMBERED = 64
"""Runs or keys whose parsed form is kept."""


class RunDocuments:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.of = lru_cache(_REMEMBERED)(self._document)
        """Of a run that exists, else a refusal."""
        self.terms = lru_cache(_REMEMBERED)(self._terms)
        """Of a run and one of its key epochs."""

    def phases(self, run: RunName) -> RoundPhases:
        """Of the run's rounds."""
        return phases_of(self.of(run).content)

    def _document(self, run: RunName) -> FrozenDocument:
        return FrozenDocument(self._stores.runs.document(run))

    def _terms(self, run: RunName, epoch: EpochNumber) -> UpdateTerms:
        document = self.of(run).content
        record = epoch_record(self._stores.runs.epoch(run, epoch), document)
        public_key = record.public_key(insecure_for_tests=document.insecure_for_tests)
        return document.terms(public_key)


def epoch_record(text: str, document: RunDocument) -> EpochRecord:
    """The record, if the document's key server signed it."""
    return verify(text, EpochRecord, signing_key(document.key.signing_key))
