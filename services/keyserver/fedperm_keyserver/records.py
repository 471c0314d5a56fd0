"""Records that stores, rules and services exchange: frozen, and without a database behind them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.statements import SchemeSpec


@dataclass(frozen=True)
class StoredIdentity:
    """The signing identity: its public key, and the private one wrapped."""

    signing_key: str
    wrapped: bytes = field(repr=False)


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
    """One key: its signed public half, and what the dealer keeps of the secret half, wrapped."""

    key: KeyName
    number: EpochNumber
    key_id: str
    record: str
    wrapped: bytes = field(repr=False)
    created_at: float


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
    """An enrolled client; `revoked_into` is the epoch that its revocation made."""

    key: KeyName
    name: ClientName
    ordinal: int
    token: str
    signing_key: str
    sealing_key: str
    enrolled_at: float
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
