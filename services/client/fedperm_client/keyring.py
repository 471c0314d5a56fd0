"""The keys of a run, epoch by epoch, opened when they are first needed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random

from pydantic import ValidationError

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.errors import UntrustedError
from fedperm.ids import NO_EPOCH, EpochNumber
from fedperm.run_document import RunDocument
from fedperm.wire.message import EpochField, Message
from fedperm.wire.statements import EpochRecord
from fedperm_client.epoch_keys import EpochKey, check_key_server, opened_key, verified_record
from fedperm_client.errors import StateError
from fedperm_client.session import Session


class Keyring:
    def __init__(
        self, session: Session, document: RunDocument, newest: "NewestEpoch", randomness: Random
    ) -> None:
        check_key_server(document.key, session.identity)
        self._session = session
        self._document = document
        self._newest = newest
        self._randomness = randomness
        self._records: dict[EpochNumber, EpochRecord] = {}
        self._keys: dict[EpochNumber, EpochKey] = {}
        self._encoding: EpochKey | None = None

    async def warm_up(self) -> None:
        """Opens the newest epoch with its tables, if there is one, before a round needs it."""
        await self._read_records()
        if self._records:
            key = self._encoding = await self.for_decryption(max(self._records))
            await asyncio.to_thread(lambda: key.encoder)

    @contextmanager
    def filling_the_pool(self) -> Iterator[None]:
        """While waiting: as many blinding factors as one round takes, not more."""
        with nullcontext() if self._encoding is None else self._encoding.encoder.filling():
            yield

    async def for_decryption(self, epoch: EpochNumber) -> EpochKey:
        """Old epochs too: a client that joins late replays all rounds."""
        if epoch not in self._keys:
            record = await self._record(epoch)
            release = await self._session.release(epoch)
            self._keys[epoch] = await asyncio.to_thread(self._open, record, release)
        return self._keys[epoch]

    async def for_encryption(self, epoch: EpochNumber) -> EpochKey:
        """Never an epoch older than one used before: its key may be in wrong hands by now."""
        self._newest.check(epoch)
        key = self._encoding = await self.for_decryption(epoch)
        await asyncio.to_thread(self._newest.advance, epoch)
        return key

    async def _record(self, epoch: EpochNumber) -> EpochRecord:
        if epoch not in self._records:
            await self._read_records()
        if epoch not in self._records:
            raise UntrustedError(
                f"there is no record of key epoch {epoch} beside the run",
                "do not take part: the aggregator uses a key that it has not shown",
            )
        return self._records[epoch]

    async def _read_records(self) -> None:
        for text in await self._session.key_epochs():
            record = verified_record(text, self._document, self._session.identity)
            self._records[record.epoch] = record

    def _open(self, record: EpochRecord, release: str) -> EpochKey:
        secret_key = opened_key(release, record, self._session.identity, self._document)
        return EpochKey(record.epoch, secret_key, self._document, self._randomness)


class _StoredEpoch(Message):
    epoch: EpochField


class NewestEpoch:
    """The newest epoch of the client's key that it has encrypted under, in any run, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, epoch: EpochNumber) -> None:
        if epoch < self._read():
            raise UntrustedError(
                f"the round uses key epoch {epoch}, but this client has used {self._read()}",
                "the operator must put the newest epoch beside the run: an older key may be in "
                "the hands of a revoked client",
            )

    @persisting
    def advance(self, epoch: EpochNumber) -> None:
        if epoch > self._read():
            write_durably(self._path, _StoredEpoch(epoch=epoch).model_dump_json().encode())

    def _read(self) -> EpochNumber:
        if not self._path.exists():
            return NO_EPOCH
        try:
            return _StoredEpoch.model_validate_json(self._path.read_bytes()).epoch
        except ValidationError:
            raise StateError(f"{self._path} is damaged", "restore it from a backup") from None
