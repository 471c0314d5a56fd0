"""A key epoch as two signed statements, and what a client makes of them.

The record is handed out by the aggregator, the secret half by the key server. Both must be signed
by the key server that this client enrolled with, and they must belong together: so the aggregator
cannot make a client encrypt under another key.
"""

from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from fedperm.aggregate import EncryptedSum
from fedperm.errors import UntrustedError
from fedperm.ids import EpochNumber
from fedperm.run_document import KeySpec, RunDocument
from fedperm.schemes.scheme import Encoder
from fedperm.wire.public_keys import from_text, signing_key
from fedperm.wire.signed import verify, verify_any
from fedperm.wire.statements import EpochNotice, EpochRecord, KeyRelease
from fedperm_client.identity import ClientIdentity
from fedperm_secret.custody import CUSTODIES
from fedperm_secret.schemes.scheme import SecretKey
from fedperm_secret.sealed import open_sealed


class EpochKey:
    """Encrypts and opens what is under one epoch of a run's key. In memory only."""

    def __init__(
        self, epoch: EpochNumber, secret_key: SecretKey, document: RunDocument, randomness: Random
    ) -> None:
        self.epoch = epoch
        self.terms = document.terms(secret_key.public_key)
        custody = CUSTODIES[document.axes.keys]
        self._half = custody.half(secret_key, document.scheme, document.plan.layout)
        self.reader_key = custody.reader_key(secret_key, document.scheme)
        self._randomness = randomness

    @cached_property
    def encoder(self) -> Encoder:
        """Its tables take a while to make: keep off the event loop."""
        self._half.warm_up()
        return self._half.encoder(self._randomness)

    def decrypt(self, total: EncryptedSum) -> NDArray[np.int64]:
        return self._half.decrypt(total.arrays)


def check_key_server(spec: KeySpec, identity: ClientIdentity) -> None:
    """The run must be under the key and the key server that this client enrolled with."""
    if spec.key != identity.key:
        raise UntrustedError(
            f"the run uses the key {spec.key}, this client is enrolled for {identity.key}",
            "enrol for the run's key with a state directory of its own",
        )
    if spec.signing_key not in identity.believed:
        raise UntrustedError(
            "the run names another key server than the one that enrolled this client",
            "do not take part: somebody else would hold the secret key",
        )


def verified_record(text: str, document: RunDocument, identity: ClientIdentity) -> EpochRecord:
    """By the identity that the run's document names, of all that this client believes."""
    check_key_server(document.key, identity)
    record = verify(text, EpochRecord, signing_key(document.key.signing_key))
    if record.key != document.key.key:
        raise UntrustedError(
            f"a record of key {record.key} stands beside a run under {document.key.key}",
            "the run operator must put the records of the run's own key beside it",
        )
    document.check_record(record)
    return record


def verified_notice(text: str, nonce: str, identity: ClientIdentity) -> EpochNumber:
    """The newest epoch, if the key server said so in answer to this very question."""
    notice = verify_any(text, EpochNotice, identity.key_servers)
    if (notice.key, notice.nonce) != (identity.key, nonce):
        raise UntrustedError(
            "what the key server says of the newest epoch is no answer to this client's question",
            "somebody between may repeat an old answer: check the address and the CA",
        )
    return notice.epoch


def opened_key(
    text: str, record: EpochRecord, identity: ClientIdentity, document: RunDocument
) -> SecretKey:
    """The secret half of the record's key, if it was released to this client for this epoch."""
    release = verify(text, KeyRelease, signing_key(document.key.signing_key))
    expected = (record.key, record.epoch, record.key_id, identity.name)
    if (release.key, release.epoch, release.key_id, release.client) != expected:
        raise _foreign(record)
    part = open_sealed(
        _octets(release, record),
        identity.keys.sealing,
        key=record.key,
        epoch=record.epoch,
        client=identity.name,
    )
    secret_key = CUSTODIES[record.keys].receive(part, document.scheme)
    public_key = record.public_key(insecure_for_tests=document.insecure_for_tests)
    if secret_key.public_key != public_key:
        raise _foreign(record)
    return secret_key


def _octets(release: KeyRelease, record: EpochRecord) -> bytes:
    try:
        return from_text(release.sealed)
    except ValueError:
        raise _foreign(record) from None


def _foreign(record: EpochRecord) -> UntrustedError:
    return UntrustedError(
        f"what was released for epoch {record.epoch} of key {record.key} does not belong to it",
        "do not take part; ask the key operator",
    )
