"""Records that stores, rules and services exchange: frozen, and without a database behind them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.public_keys import fingerprint
from fedperm.wire.statements import SchemeSpec
from fedperm_secret.at_rest import epoch_purpose


class Wrapped(Protocol):
    """A record that holds a secret under the key-encryption key. `purpose` says what it is, so that
    it opens as nothing else."""

    @property
    def wrapped(self) -> bytes: ...

    @property
    def purpose(self) -> str: ...


Rewrap = Callable[[Wrapped], bytes]
"""The same secret under another key-encryption key."""


@dataclass(frozen=True)
class StoredIdentity:
    """A signing identity: its public key, and the private one wrapped, which is empty once it was
    retired. All but the first have a statement of the one before that names them its successor."""

    signing_key: str
    wrapped: bytes = field(repr=False)
    generation: int = 1
    succession: str | None = None

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.signing_key)

    @property
    def purpose(self) -> str:
        return f"fedperm/3 signing key at rest\x00{self.signing_key}"

    @property
    def former_purpose(self) -> str:
        """Until rows were marked: `integrity` says what follows from it."""
        return f"fedperm/1 signing key at rest\x00{self.signing_key}"


@dataclass(frozen=True)
class StoredIntegrityKey:
    """The key of the marks on rows, wrapped."""

    wrapped: bytes = field(repr=False)
    purpose: str = "fedperm/3 integrity key at rest"


@dataclass(frozen=True)
class Key:
    """A name that clients enrol for; `key_id` is the fingerprint of its latest epoch. `keys` says
    who holds what of its epochs (`fedperm_secret.custody`)."""

    name: KeyName
    scheme: str
    parameters: dict[str, int]
    keys: str
    latest_epoch: EpochNumber
    key_id: str
    created_at: float

    @property
    def scheme_spec(self) -> SchemeSpec:
        return SchemeSpec(name=self.scheme, parameters=self.parameters)


@dataclass(frozen=True)
class Epoch:
    """One key: its signed public half, and what the dealer keeps of the secret half, wrapped, until
    it is destroyed."""

    key: KeyName
    number: EpochNumber
    key_id: str
    record: str
    wrapped: bytes = field(repr=False)
    created_at: float
    destroyed_at: float | None = None

    @property
    def purpose(self) -> str:
        return epoch_purpose(self.key, self.number)


@dataclass(frozen=True)
class Token:
    """An enrolment token; of its secret only the hash."""

    id: str
    key: KeyName
    secret_sha256: bytes = field(repr=False)
    uses: int
    used: int
    expires_at: float
    revoked: bool
    client: ClientName | None

    def is_live(self, now: float) -> bool:
        """Somebody may still enrol with it."""
        return not self.revoked and self.used < self.uses and now < self.expires_at


@dataclass(frozen=True)
class Client:
    """An enrolled client. `first_epoch` was the newest of its key when it was enrolled: it is given
    no older one. `revoked_into` is the epoch that its revocation made."""

    key: KeyName
    name: ClientName
    ordinal: int
    token: str
    signing_key: str
    sealing_key: str
    enrolled_at: float
    first_epoch: EpochNumber
    revoked_at: float | None = None
    revoked_into: EpochNumber | None = None


@dataclass(frozen=True)
class Attempt:
    """What a client tries to enrol with; of the token's secret only the hash."""

    key: KeyName
    token: str
    secret_sha256: bytes = field(repr=False)
    signing_key: str
    sealing_key: str


@dataclass(frozen=True)
class Known:
    """What the key server knows about an attempt's token and keys. `holder` is the client that is
    enrolled with the attempt's signing key; the name is the one that the token is for, if any."""

    token: Token | None
    holder: Client | None
    name_is_taken: bool
    clients: int
    latest_epoch: EpochNumber


@dataclass(frozen=True)
class Admitted:
    client: Client


@dataclass(frozen=True)
class Repeated:
    client: Client


@dataclass(frozen=True)
class Refused:
    """To be recorded: somebody else holds the token or the key."""

    why: str


Verdict = Admitted | Repeated | Refused
"""On an attempt to enrol."""

Judge = Callable[[Attempt, Known, float], Verdict]
"""A rule that the store applies within its transaction; the last argument is the time."""
