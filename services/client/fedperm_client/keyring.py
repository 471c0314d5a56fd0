"""The keys of a run, epoch by epoch, opened when they are first needed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from random import Random

from pydantic import ValidationError

from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.errors import RefusedError, UntrustedError
from fedperm.ids import NO_EPOCH, EpochNumber, RoundNumber
from fedperm.protocol import PROTOCOL
from fedperm.run_document import RunDocument
from fedperm.wire.message import EpochField, Message
from fedperm.wire.public_keys import fingerprint
from fedperm.wire.statements import EpochRecord
from fedperm_client.epoch_keys import (
    EpochKey,
    check_key_server,
    opened_key,
    verified_notice,
    verified_record,
)
from fedperm_client.errors import StateError, WithheldKeyError
from fedperm_client.session import Session

_NONCE_OCTETS = 16
_WITHHELD = {403, 404, 410}
"""An epoch from before this client was enrolled, or one that was destroyed."""


class Keyring:
    def __init__(
        self, session: Session, document: RunDocument, newest: "NewestEpoch", randomness: Random
    ) -> None:
        check_key_server(document.key, session.identity)
        session.access.know_key_server_as(document.key.signing_key)
        self._session = session
        self._document = document
        self._newest = newest
        self._randomness = randomness
        self._records: dict[EpochNumber, EpochRecord] = {}
        self._keys: dict[EpochNumber, EpochKey] = {}
        self._encoding: EpochKey | None = None
        self._heard: tuple[RoundNumber, EpochNumber] | None = None

    async def warm_up(self) -> None:
        """Opens the newest epoch with its tables, if there is one, before a round needs it. It may
        be older than this client, and not released to it: then a newer one is to come."""
        await self._read_records()
        if self._records:
            with suppress(WithheldKeyError):
                key = self._encoding = await self.for_decryption(max(self._records))
                await asyncio.to_thread(lambda: key.encoder)

    @contextmanager
    def filling_the_pool(self) -> Iterator[None]:
        """While waiting: as many blinding factors as one round takes, not more."""
        with nullcontext() if self._encoding is None else self._encoding.encoder.filling():
            yield

    async def for_decryption(self, epoch: EpochNumber) -> EpochKey:
        """Old epochs too, as far as the key server releases them: a client that was away replays
        all rounds."""
        if epoch not in self._keys:
            record = await self._record(epoch)
            release = await self._release(epoch)
            self._keys[epoch] = await asyncio.to_thread(self._open, record, release)
        return self._keys[epoch]

    async def check_can_begin(self) -> None:
        """Before a new client joins, and is waited for. Where a run began under an older version,
        nobody vouches for a later model: one begins with the first round there, or not at all."""
        if self._document.protocol == PROTOCOL or not self._records:
            return
        try:
            await self.for_decryption(min(self._records))
        except WithheldKeyError as withheld:
            raise WithheldKeyError(
                f"this client came too late for the run, which is of {self._document.protocol}: "
                f"{withheld.message}",
                "ask the run's operator for a new run: clients of this one vouch for no model",
            ) from None

    async def for_sealing(self) -> EpochKey:
        """The newest that the key server has named: those who join now can read what is sealed
        under it, and those who were revoked cannot. The run may be without its record yet."""
        epoch = self._newest.epoch
        if epoch not in self._records:
            await self.signed_record(epoch)
        return await self.for_decryption(epoch)

    async def newest(self, number: RoundNumber) -> EpochNumber:
        """By the key server's own word: it alone knows who was revoked, and the aggregator may
        keep it back. Asked once for each round; never again an older one than it has named."""
        if self._heard is None or self._heard[0] != number:
            self._heard = (number, await self.ask_newest())
        return self._heard[1]

    @property
    def newest_heard(self) -> EpochNumber:
        """What the key server has named last, in this life or an earlier one; 0 before that."""
        return self._newest.epoch

    async def ask_newest(self) -> EpochNumber:
        """Now, whatever was heard before."""
        nonce = self._randomness.randbytes(_NONCE_OCTETS).hex()
        text = await self._session.newest_epoch(nonce)
        newest = verified_notice(text, nonce, self._session.identity)
        await asyncio.to_thread(self._newest.hear, newest)
        return newest

    async def signed_record(self, epoch: EpochNumber) -> str:
        """From the key server, to be brought to the run."""
        signer = fingerprint(self._document.key.signing_key)
        text = await self._session.epoch_record(epoch, signer)
        record = verified_record(text, self._document, self._session.identity)
        self._records[record.epoch] = record
        return text

    async def for_encryption(self, epoch: EpochNumber) -> EpochKey:
        """Never an epoch older than one heard of before: its key may be in wrong hands by now."""
        self._newest.check(epoch)
        key = self._encoding = await self.for_decryption(epoch)
        return key

    async def _release(self, epoch: EpochNumber) -> str:
        try:
            return await self._session.release(epoch)
        except RefusedError as refusal:
            if refusal.status not in _WITHHELD:
                raise
            raise WithheldKeyError(
                f"the key server does not release key epoch {epoch}: {refusal.message}",
                refusal.hint,
            ) from None

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
    """The newest epoch of the client's key that the key server has named, for any run, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self, epoch: EpochNumber) -> None:
        """Of what is to be encrypted."""
        if epoch != self.epoch:
            raise UntrustedError(
                f"the round uses key epoch {epoch}, but the key server has named {self.epoch} "
                "as the newest",
                "do not take part: a revoked client may hold an older key",
            )

    @persisting
    def hear(self, epoch: EpochNumber) -> None:
        """Durable before it returns."""
        known = self.epoch
        if epoch < known:
            raise UntrustedError(
                f"the key server names {epoch} as the newest key epoch, and has named {known}",
                "its database may be an old copy: ask the key operator",
            )
        if epoch > known:
            write_durably(self._path, _StoredEpoch(epoch=epoch).model_dump_json().encode())

    @property
    def epoch(self) -> EpochNumber:
        """0 before it has named one."""
        if not self._path.exists():
            return NO_EPOCH
        try:
            return _StoredEpoch.model_validate_json(self._path.read_bytes()).epoch
        except ValidationError:
            raise StateError(f"{self._path} is damaged", "restore it from a backup") from None
