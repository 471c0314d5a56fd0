"""What the audit log records, all of it in one place: no field here may be a secret.

Entries are hashed and kept for ever: a kind or a field that was stored once keeps its name, and
fields keep their order.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from fedperm.ids import ClientName, EpochNumber, KeyName

Detail = str | int | None


@dataclass(frozen=True)
class Event:
    """Something that happened; its fields are the entry's details."""

    kind: ClassVar[str]

    def details(self) -> dict[str, Detail]:
        return asdict(self)


@dataclass(frozen=True)
class IdentityCreated(Event):
    kind = "identity-created"

    fingerprint: str


@dataclass(frozen=True)
class IdentitySucceeded(Event):
    """`fingerprint` is the new one's."""

    kind = "identity-succeeded"

    fingerprint: str
    predecessor: str


@dataclass(frozen=True)
class IdentityRetired(Event):
    """Its private key is gone: nothing is signed under it any more."""

    kind = "identity-retired"

    fingerprint: str


@dataclass(frozen=True)
class SecretsRewrapped(Event):
    """`wrapped_by` is the identifier of the new key-encryption key."""

    kind = "secrets-rewrapped"

    wrapped_by: str
    secrets: int


@dataclass(frozen=True)
class KeyCreated(Event):
    """The scheme's parameters stand among the details by their own names."""

    kind = "key-created"

    key: KeyName
    scheme: str
    parameters: Mapping[str, int]
    keys: str
    epoch: EpochNumber
    key_id: str

    def details(self) -> dict[str, Detail]:
        return {
            "key": self.key,
            "scheme": self.scheme,
            **self.parameters,
            "keys": self.keys,
            "epoch": self.epoch,
            "key_id": self.key_id,
        }


@dataclass(frozen=True)
class KeyRotated(Event):
    kind = "key-rotated"

    key: KeyName
    epoch: EpochNumber
    key_id: str
    why: str


@dataclass(frozen=True)
class EpochDestroyed(Event):
    """Its secret key is gone."""

    kind = "epoch-destroyed"

    key: KeyName
    epoch: EpochNumber
    key_id: str


@dataclass(frozen=True)
class TokenMinted(Event):
    kind = "token-minted"

    key: KeyName
    token: str
    uses: int
    client: ClientName | None


@dataclass(frozen=True)
class TokenRevoked(Event):
    kind = "token-revoked"

    key: KeyName
    token: str
    why: str


@dataclass(frozen=True)
class ClientEnrolled(Event):
    kind = "client-enrolled"

    key: KeyName
    client: ClientName
    ordinal: int
    token: str
    signing_key: str
    sealing_key: str
    first_epoch: EpochNumber


@dataclass(frozen=True)
class EnrolmentRefused(Event):
    kind = "enrolment-refused"

    key: KeyName
    token: str
    signing_key: str
    why: str


@dataclass(frozen=True)
class ClientRevoked(Event):
    """`epoch` is the one that the revocation made."""

    kind = "client-revoked"

    key: KeyName
    client: ClientName
    epoch: EpochNumber


@dataclass(frozen=True)
class KeyReleased(Event):
    """The hash of the signed release says which sealed key left."""

    kind = "key-released"

    key: KeyName
    epoch: EpochNumber
    key_id: str
    client: ClientName
    release_sha256: str


@dataclass(frozen=True)
class TamperingFound(Event):
    """A row that this key server has not written, or not so."""

    kind = "tampering-found"

    table: str
    row: str
    why: str
