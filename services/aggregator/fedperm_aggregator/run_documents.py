"""Documents and public keys of runs: they never change, so they are parsed once."""

from functools import lru_cache

from fedperm.errors import UntrustedError
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
        return self._stores.runs.document(run)

    def _terms(self, run: RunName, epoch: EpochNumber) -> UpdateTerms:
        document = self.of(run).content
        record = epoch_record(self._stores.runs.epoch(run, epoch), document)
        public_key = record.public_key(insecure_for_tests=document.insecure_for_tests)
        return document.terms(public_key)


def epoch_record(text: str, document: RunDocument) -> EpochRecord:
    """The record, if the document's key server signed it."""
    return verify(text, EpochRecord, signing_key(document.key.signing_key))


def usable_record(text: str, document: RunDocument) -> EpochRecord:
    """The record, if rounds of the run can be under its key; whoever brings it."""
    record = epoch_record(text, document)
    if record.key != document.key.key:
        raise UntrustedError(
            f"the record is of key {record.key}, the run is under {document.key.key}",
            "get the record of the run's key from the key server",
        )
    document.check_record(record)
    record.public_key(insecure_for_tests=document.insecure_for_tests)
    return record
