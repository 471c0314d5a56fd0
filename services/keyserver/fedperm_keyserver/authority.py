"""Who this key server is, what it signs, and what it cannot do while it is sealed."""

from dataclasses import dataclass, field
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from fedperm.clock import Clock
from fedperm.errors import SealedError
from fedperm.ids import EpochNumber, KeyName
from fedperm.services import KEY_SERVER
from fedperm.wire.key_server import Identity
from fedperm.wire.public_keys import fingerprint, sealing_key, signing_key, to_text
from fedperm.wire.signed import Statement, sign
from fedperm.wire.statements import EpochRecord, KeyRelease, SchemeSpec
from fedperm_keyserver.records import Client, Epoch, StoredIdentity
from fedperm_keyserver.stores.keys import IdentityStore
from fedperm_keyserver.vault import Vault, new_identity, unwrap_signing_key
from fedperm_secret.at_rest import KeyEncryptionKey
from fedperm_secret.custody import CUSTODIES, Dealt
from fedperm_secret.sealed import seal

NO_KEY_ENCRYPTION_KEY = SealedError(
    "the key server was started without its key-encryption key",
    f"start it with {KEY_SERVER.env_prefix}KEY_ENCRYPTION_KEY_FILE",
)


@dataclass(frozen=True)
class Authority:
    """The signing identity and its vault. Sealed, there is no vault, and at the very first start
    no identity either."""

    stored: StoredIdentity | None
    open_vault: Vault | None
    why_sealed: SealedError = field(default=NO_KEY_ENCRYPTION_KEY, repr=False)

    @property
    def identity(self) -> Identity:
        if self.stored is None:
            raise self._sealed()
        public = self.stored.signing_key
        return Identity(signing_key=public, fingerprint=fingerprint(public))

    @property
    def public_key(self) -> Ed25519PublicKey:
        return signing_key(self.identity.signing_key)

    @property
    def vault(self) -> Vault:
        if self.open_vault is None:
            raise self._sealed()
        return self.open_vault

    def check_open(self) -> None:
        """Before long work that would be for nothing."""
        _ = self.vault

    def sign(self, statement: Statement) -> str:
        return sign(statement, self.vault.signing_key)

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

    def make_release(self, epoch: Epoch, keys: str, client: Client, now: float) -> str:
        """The client's part of the secret half, sealed to it and signed."""
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
        return self.sign(release)

    def _sealed(self) -> SealedError:
        """A new one each time: an error that is raised twice mixes up its tracebacks."""
        return SealedError(self.why_sealed.message, self.why_sealed.hint)


def establish(
    store: IdentityStore,
    kek: KeyEncryptionKey | None,
    clock: Clock,
    randomness: Random,
) -> Authority:
    """The database's authority, made at the first start; sealed if `kek` does not open it."""
    stored = store.find()
    if kek is None:
        return Authority(stored, None)
    if stored is None:
        stored = store.keep(new_identity(kek, randomness), clock.now())
    try:
        signing = unwrap_signing_key(stored, kek)
    except SealedError as error:
        return Authority(stored, None, error)
    return Authority(stored, Vault(kek, signing, randomness))
