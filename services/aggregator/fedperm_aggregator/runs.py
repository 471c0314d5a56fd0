"""Runs: their documents, initial models, key epochs, and the operator's stop and go."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef, BlobStore
from fedperm.clock import Clock
from fedperm.errors import InvalidRequestError, ParameterError, UnknownResourceError, UntrustedError
from fedperm.ids import EpochNumber, RunName
from fedperm.protocol import PROTOCOL
from fedperm.run_document import FrozenDocument, RunDocument
from fedperm.wire.aggregator import KeyEpoch, RunStatus
from fedperm.wire.model import decode_model, model_body
from fedperm_aggregator import blob_names
from fedperm_aggregator.run_documents import RunDocuments, usable_record
from fedperm_aggregator.stores import Stores
from fedperm_aggregator.submissions.rules import check_digest, check_size

Created = tuple[RunStatus, bool]
"""The run's status, and whether the request changed it."""


class Runs:
    def __init__(
        self,
        stores: Stores,
        documents: RunDocuments,
        blobs: BlobStore,
        clock: Clock,
        *,
        idle_seconds: float,
        insecure_for_tests: bool,
    ) -> None:
        self._store = stores.runs
        self._documents = documents
        self._blobs = blobs
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._insecure_for_tests = insecure_for_tests

    def create(self, run: RunName, octets: bytes, signature: str) -> Created:
        document = FrozenDocument(octets, signature)
        self._check(run, document.content)
        if document.content.protocol != PROTOCOL and not self._is_stored(document):
            raise ParameterError(
                f"the document is of {document.content.protocol}; new runs are of {PROTOCOL}",
                "create the run with a command of this aggregator's version",
            )
        document.check_signature()
        is_new = self._store.create(document, self._clock.now())
        return self.status(run), is_new

    def status(self, run: RunName) -> RunStatus:
        return self._store.status(run)

    def all(self) -> Sequence[RunStatus]:
        return self._store.statuses()

    def document(self, run: RunName) -> FrozenDocument:
        return self._documents.of(run)

    def stop(self, run: RunName) -> RunStatus:
        self._store.stop(run, self._clock.now())
        return self.status(run)

    def resume(self, run: RunName) -> RunStatus:
        self._store.resume(run, self._clock.now())
        return self.status(run)

    async def put_initial_model(
        self, run: RunName, size: int, body: AsyncIterator[bytes]
    ) -> Created:
        document = await asyncio.to_thread(self._documents.of, run)
        model = document.content.model
        check_size(size, model_body(model.parameters).size)
        async with self._blobs.receive(body, size, self._idle_seconds) as received:
            check_digest(received.sha256, model.initial_sha256, "the document's initial_sha256")
            await asyncio.to_thread(self._keep_model, run, received, model.parameters)
        is_new = await asyncio.to_thread(self._store.record_model, run, self._clock.now())
        return await asyncio.to_thread(self.status, run), is_new

    def initial_model(self, run: RunName) -> BlobRef:
        if not self._store.has_model(run):
            raise UnknownResourceError(
                f"run {run} has no initial model yet", "ask again when the operator has sent it"
            )
        model = self.document(run).content.model
        size = model_body(model.parameters).size
        return self._blobs.ref(blob_names.initial_model(run), model.initial_sha256, size)

    def put_epoch(self, run: RunName, epoch: EpochNumber, message: KeyEpoch) -> Created:
        record = usable_record(message.record, self._documents.of(run).content)
        if record.epoch != epoch:
            raise UntrustedError(
                f"the record is of epoch {record.epoch}, the path says {epoch}", "use one number"
            )
        is_new = self._store.add_epoch(run, epoch, message.record, self._clock.now())
        return self.status(run), is_new

    def epochs(self, run: RunName) -> tuple[KeyEpoch, ...]:
        return self._store.epochs(run)

    def _keep_model(self, run: RunName, received: BlobRef, parameters: int) -> None:
        decode_model(open_blob(received).view(), parameters)
        self._blobs.keep(received, blob_names.initial_model(run))

    def _check(self, run: RunName, document: RunDocument) -> None:
        if document.run != run:
            raise InvalidRequestError(
                f"the document is of run {document.run}, the path says {run}", "use one name"
            )
        if document.insecure_for_tests and not self._insecure_for_tests:
            raise ParameterError(
                "the document says insecure_for_tests, this aggregator does not admit it",
                "leave it out",
            )

    def _is_stored(self, document: FrozenDocument) -> bool:
        """A run of an older version goes on: to send its document once more changes nothing."""
        try:
            return self._store.status(document.content.run).document == document.sha256
        except UnknownResourceError:
            return False
