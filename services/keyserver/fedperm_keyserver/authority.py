"""Who this key server is, what it signs, and what it cannot do while it is sealed."""

from copy import copy
from dataclasses import dataclass, field
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from fedperm.clock import Clock
from fedperm.errors import SealedError, TamperedError, UnknownResourceError, UntrustedError
from fedperm.ids import EpochNumber, KeyName
from fedperm.services import KEY_SERVER
from fedperm.wire.key_server import Identity
from fedperm.wire.public_keys import sealing_key, signing_key, to_text
from fedperm.wire.signed import Statement, sign, unverified, verify, verify_any
from fedperm.wire.statements import AccessToken, EpochRecord, KeyRelease, SchemeSpec
from fedperm_keyserver.integrity import guard_rows
from fedperm_keyserver.records import Client, Epoch, StoredIdentity
from fedperm_keyserver.stores.guard import Guard, IntegrityStore
from fedperm_keyserver.stores.keys import IdentityStore
from fedperm_keyserver.vault import Vault, new_identity, open_vault
from fedperm_secret.at_rest import KeyEncryptionKey
from fedperm_secret.custody import CUSTODIES, Dealt
from fedperm_secret.sealed import seal

NO_KEY_ENCRYPTION_KEY = SealedError(
    "the key server was started without its key-encryption key",
    f"start it with {KEY_SERVER.env_prefix}KEY_ENCRYPTION_KEY_FILE",
)


@dataclass(frozen=True)
class Authority:
    """The signing identities, the newest one last, and their vault. Closed, there is no vault; nor
    an identity at the very first start, or where their rows were changed by somebody else.

    An older identity signs for whoever still knows this key server by it: a run's document names
    one for ever, and a client the one that it enrolled with. Who asks says which (`signer`).
    """

    stored: tuple[StoredIdentity, ...]
    open_vault: Vault | None
    why_closed: SealedError | TamperedError = field(default=NO_KEY_ENCRYPTION_KEY, repr=False)

    @property
    def identity(self) -> Identity:
        if not self.stored:
            raise copy(self.why_closed)
        newest = self.stored[-1]
        succession = tuple(one.succession for one in self.stored if one.succession)
        return Identity(
            signing_key=newest.signing_key, fingerprint=newest.fingerprint, succession=succession
        )

    @property
    def public_key(self) -> Ed25519PublicKey:
        return signing_key(self.identity.signing_key)

    @property
    def in_use(self) -> dict[str, Ed25519PublicKey]:
        """The public keys of all identities that are not retired, by their fingerprints."""
        return {one.fingerprint: signing_key(one.signing_key) for one in self.stored if one.wrapped}

    def public_key_for(self, token: str) -> Ed25519PublicKey:
        """With which to verify an access token: it says who has signed it."""
        try:
            claimed = unverified(token, AccessToken).iss
        except UntrustedError:
            return self.public_key
        return self.in_use.get(claimed, self.public_key)

    @property
    def vault(self) -> Vault:
        if self.open_vault is None:
            raise copy(self.why_closed)  # an error that is raised twice mixes up its tracebacks
        return self.open_vault

    def check_open(self) -> None:
        """Before long work that would be for nothing."""
        _ = self.vault

    def sign(self, statement: Statement, signer: str | None = None) -> str:
        """By the newest identity, or by the one with this fingerprint."""
        vault = self.vault
        return sign(statement, vault.signing_keys[signer] if signer else vault.signing_key)

    def signed_by(self, signer: str, record: str) -> str:
        """An epoch's record as this identity signs it: the same text each time."""
        if signer not in self.in_use:
            raise UnknownResourceError(
                f"this key server has no identity {signer[:16]} that signs",
                "ask it who it is: GET /v1/identity",
            )
        try:
            verify(record, EpochRecord, self.in_use[signer])
        except UntrustedError:
            known = [signing_key(one.signing_key) for one in self.stored]
            return self.sign(verify_any(record, EpochRecord, known), signer)
        return record

    def make_epoch(self, dealt: Dealt, key: KeyName, number: EpochNumber, now: float) -> Epoch:
        """What was dealt, with its number: the public half signed, the secret half wrapped."""
        public = dealt.public_key
        record = EpochRecord(
            key=key,
            epoch=number,
            scheme=SchemeSpec.of(dealt.scheme),
            keys=dealt.custody,
            public=dict(public.material),
            key_id=public.key_id,
            iat=int(now),
        )
        wrapped = self.vault.put_away(dealt.kept, key, number)
        return Epoch(key, number, public.key_id, self.sign(record), wrapped, now)

    def make_release(self, epoch: Epoch, keys: str, client: Client, signer: str, now: float) -> str:
        """The client's part of the secret half, sealed to it and signed by the identity that the
        client believes."""
        sealed = seal(
            CUSTODIES[keys].part_of(client.name, self.vault.take_out(epoch)),
            sealing_key(client.sealing_key),
            key=epoch.key,
            epoch=epoch.number,
            client=client.name,
        )
        release = KeyRelease(
            key=epoch.key,
            epoch=epoch.number,
            key_id=epoch.key_id,
            client=client.name,
            sealed=to_text(sealed),
            iat=int(now),
        )
        return self.sign(release, signer)


def establish(
    store: IdentityStore,
    kek: KeyEncryptionKey | None,
    clock: Clock,
    randomness: Random,
) -> Authority:
    """The database's authority, made at the first start; closed if `kek` does not open it."""
    stored = store.all()
    if kek is None:
        return Authority(stored, None)
    try:
        guard = guard_rows(IntegrityStore(store.database), stored, kek, randomness)
        return _believed(store, guard, kek, clock, randomness)
    except SealedError as error:
        return Authority(stored, None, error)


def _believed(
    store: IdentityStore,
    guard: Guard,
    kek: KeyEncryptionKey,
    clock: Clock,
    randomness: Random,
) -> Authority:
    """Whose rows are guarded; without an identity if they were changed, so that the log can still
    be read and no other identity is shown."""
    try:
        if not store.all():
            store.keep(new_identity(kek, randomness), clock.now())
        stored = store.all()
        guard.check_newest(stored[-1].fingerprint)
    except TamperedError as error:
        return Authority((), None, error)
    return Authority(stored, open_vault(stored, guard, kek, randomness))
