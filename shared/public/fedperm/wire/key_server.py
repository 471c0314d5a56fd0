"""JSON messages of the key server's interface; docs/protocol.md says when they travel."""

from typing import Annotated, Any

from pydantic import Field

from fedperm.wire.message import ClientField, EpochField, KeyField, Many, Message, Name, Sha256
from fedperm.wire.public_keys import KeyText
from fedperm.wire.statements import Audience, SchemeSpec

LONGEST_TOKEN_LIFE_SECONDS = 365 * 24 * 3600.0


class Identity(Message):
    """Who this key server is. `succession` are signed IdentitySuccessions that lead from its first
    signing key to this one."""

    signing_key: KeyText
    fingerprint: Sha256
    succession: Many[str] = ()


class KeyRequest(Message):
    """`keys` says who is to hold the secret half."""

    scheme: SchemeSpec = SchemeSpec()
    keys: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$")] = "shared"


class KeyStatus(Message):
    """A key and its newest epoch. `key_id` is the fingerprint of that epoch's public key."""

    key: KeyField
    scheme: SchemeSpec
    keys: str
    latest_epoch: EpochField
    key_id: Sha256
    created_at: float


class KeyList(Message):
    keys: Many[KeyStatus]


class SignedEpoch(Message):
    """`record` is a signed EpochRecord."""

    record: str


class DestroyedEpoch(Message):
    """An epoch whose secret key is gone; its public record stays."""

    key: KeyField
    epoch: EpochField
    key_id: Sha256
    destroyed_at: float


class SignedNotice(Message):
    """`notice` is a signed EpochNotice."""

    notice: str


class TokenRequest(Message):
    """`client` names the client that a token for a single use enrols."""

    uses: Annotated[int, Field(ge=1, le=100_000)] = 1
    expires_in_seconds: Annotated[float, Field(gt=0, le=LONGEST_TOKEN_LIFE_SECONDS)] = 24 * 3600.0
    client: ClientField | None = None


class TokenStatus(Message):
    id: Name
    uses: int
    used: int
    expires_at: float
    revoked: bool
    client: ClientField | None


class MintedToken(Message):
    """`token` is shown once: the key server keeps only its hash."""

    token: str
    status: TokenStatus


class TokenList(Message):
    tokens: Many[TokenStatus]


class Enrolment(Message):
    """What a client asks with; `proof` is a signed EnrolmentProof, which has its two keys."""

    token: Annotated[str, Field(max_length=512)]
    proof: Annotated[str, Field(max_length=2048)]


class Enrolled(Message):
    """`ordinal` counts the clients of the key from 0; it chooses a shard where data are shards."""

    client: ClientField
    ordinal: int
    key: KeyField
    key_server: Identity


class ClientStatus(Message):
    client: ClientField
    ordinal: int
    enrolled_at: float
    revoked_at: float | None
    signing_key: KeyText


class ClientList(Message):
    clients: Many[ClientStatus]


class Certificate(Message):
    """`certificate` is a signed ClientCertificate."""

    certificate: str


class Revocation(Message):
    """A revoked client knows the shared key, so the key has a new epoch from here on."""

    client: ClientField
    epoch: SignedEpoch


class AccessTokenRequest(Message):
    """`assertion` is a signed ClientAssertion."""

    assertion: str
    audience: Audience


class GrantedAccess(Message):
    """`access_token` is a signed AccessToken."""

    access_token: str
    expires_at: float


def _is_unknown(member: str | None) -> bool:
    return member is None


Told = Annotated[str | None, Field(exclude_if=_is_unknown)]
"""Left out where it is not known: entries of older versions have it not, and their hashes stay."""


class AuditEntry(Message):
    """`hash` is over the entry's other members and `previous`, the hash of the entry before."""

    number: int
    at: float
    event: str
    details: dict[str, Any]
    actor: Told = None
    address: Told = None
    previous: str
    hash: Sha256


class ReleasedKey(Message):
    """`release` is a signed KeyRelease, `entry` what the audit log says of it, and `head` a signed
    AuditHead: the log's end with this entry. `held` is one of the entry that the client asked for,
    as the log has it now; none if it has no such entry."""

    release: str
    entry: AuditEntry
    head: str
    held: str | None = None


class AuditLog(Message):
    entries: Many[AuditEntry]
