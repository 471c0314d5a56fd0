"""The key of the marks on rows (`marks`): made, unwrapped, and given to the database's guard.

It is random and wrapped like all secrets. With another key-encryption key there is another one of
these, and all rows are marked anew: who had the former marks nothing that is believed.

A database of a version without marks is marked as it is found, once: its rows are believed then.
That it was never marked shows in how its signing key is wrapped, which nobody can do without the
key-encryption key; taking the marks away and setting the tables back does not bring that moment
again.
"""

from collections.abc import Sequence
from random import Random

from fedperm.errors import SealedError
from fedperm_keyserver.marks import INTEGRITY_KEY_OCTETS, IntegrityKey
from fedperm_keyserver.records import StoredIdentity, StoredIntegrityKey
from fedperm_keyserver.stores.guard import Guard, IntegrityStore, Marks, tampered
from fedperm_keyserver.vault import rewrap_unmarked, unwrap_signing_key
from fedperm_secret.at_rest import KeyEncryptionKey

_PURPOSE = StoredIntegrityKey.purpose


def guard_rows(
    store: IntegrityStore,
    identities: Sequence[StoredIdentity],
    kek: KeyEncryptionKey,
    randomness: Random,
) -> Guard:
    """From here on the database is guarded; sealed if `kek` is not the one of this database."""
    wrapped = store.find()
    if wrapped is None:
        newest = identities[-1] if identities else None  # the only one, if there are no marks yet
        wrapped = _make(store, newest, kek, randomness)
    guard = Guard(Marks(wrapped, IntegrityKey(kek.unwrap(wrapped, _PURPOSE))))
    guard.watch(store.database)
    return guard


def _make(
    store: IntegrityStore,
    identity: StoredIdentity | None,
    kek: KeyEncryptionKey,
    randomness: Random,
) -> bytes:
    rewrapped = None if identity is None else _rewrapped(identity, kek, randomness)
    return store.keep(new_marks(kek, randomness), rewrapped)


def new_marks(kek: KeyEncryptionKey, randomness: Random) -> Marks:
    octets = randomness.randbytes(INTEGRITY_KEY_OCTETS)
    return Marks(kek.wrap(octets, _PURPOSE, randomness), IntegrityKey(octets))


def _rewrapped(identity: StoredIdentity, kek: KeyEncryptionKey, randomness: Random) -> bytes:
    try:
        return rewrap_unmarked(identity, kek, randomness)
    except SealedError:
        unwrap_signing_key(identity, kek)  # sealed, if it is another key-encryption key
        raise tampered("integrity_key", "1", "it was there, and is no more") from None
