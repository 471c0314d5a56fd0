"""Everything that is signed, by whom and for whom.

| statement | signed by | read by |
|---|---|---|
| IdentitySuccession: from here on it is that key which speaks for me | key server | everybody |
| EpochRecord: this is the public key of that epoch | key server | everybody |
| EpochNotice: this is the newest epoch, at the moment of your question | key server | one client |
| KeyRelease: this is its secret half, sealed to you | key server | one client |
| AuditHead: this is where my audit log ends | key server | clients, auditors |
| AccessToken: the bearer may do this, there | key server | aggregator, key server |
| ClientCertificate: this signing key is that client's | key server | aggregator, clients |
| EnrolmentProof: these keys are mine, and I enrol with them by this token | client | key server |
| ClientAssertion: it is me who asks | client | key server |
| Manifest: this upload is mine, for that round | client | aggregator |
| DocumentSignature: I made this run | run operator | everybody |
| CheckpointStatement: this is the sealed model after that round | client | aggregator, clients |
"""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from fedperm.errors import UnauthenticatedError, UntrustedError
from fedperm.schemes.registry import DEFAULT_SCHEME, default_scheme, make_scheme
from fedperm.schemes.scheme import PublicKey, Scheme
from fedperm.services import SERVICES, service_for
from fedperm.wire.message import (
    ClientField,
    EpochField,
    KeyField,
    Message,
    RoundField,
    RunField,
    Sha256,
    Word,
)
from fedperm.wire.public_keys import KeyText, SealingKeyText
from fedperm.wire.signed import Statement

PosixSeconds = Annotated[int, Field(ge=0, lt=1 << 53)]
"""Bounded: one that no float holds would crash whoever compares it with a clock."""
KeyMaterial = Annotated[str, Field(pattern=r"^[0-9a-f]+$", max_length=4096)]
Parameter = Annotated[int, Field(ge=0, lt=1 << 31)]
Nonce = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""Sixteen octets that were never used before, in hexadecimal."""

CLOCK_LEEWAY_SECONDS = 60.0
"""How far two parties' clocks may differ."""


def _check_audience(audience: str) -> str:
    return service_for(audience).audience


def _check_scope(scope: str) -> str:
    if scope not in {service.scope for service in SERVICES.values()}:
        raise ValueError("no service has this scope")
    return scope


Audience = Annotated[
    str,
    AfterValidator(_check_audience),
    WithJsonSchema({"type": "string", "enum": [s.audience for s in SERVICES.values()]}),
]
"""The service that accepts an access token; every other service refuses it."""
Scope = Annotated[
    str,
    AfterValidator(_check_scope),
    WithJsonSchema({"type": "string", "enum": [s.scope for s in SERVICES.values()]}),
]
"""What an access token permits: each service has one scope."""


class JsonWebKey(Message):
    """An Ed25519 public key as RFC 8037 writes it."""

    kty: Literal["OKP"] = "OKP"
    crv: Literal["Ed25519"] = "Ed25519"
    x: KeyText


class Confirmation(Message):
    """The key whose holder the token is for (RFC 7800)."""

    jwk: JsonWebKey


class SchemeSpec(Message):
    """A scheme by its name (`fedperm.schemes`), and its parameters, which are the scheme's own."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$")] = DEFAULT_SCHEME.name
    parameters: Annotated[dict[str, Parameter], Field(max_length=16)] = Field(
        default_factory=lambda: dict(DEFAULT_SCHEME.parameters)
    )

    @classmethod
    def of(cls, scheme: Scheme) -> "SchemeSpec":
        return cls(name=scheme.name, parameters=dict(scheme.parameters))

    @classmethod
    def of_bits(cls, key_bits: int) -> "SchemeSpec":
        """The default scheme with keys of this length; an impossible one is refused."""
        return cls.of(default_scheme(key_bits, insecure_for_tests=True))

    def scheme(self, *, insecure_for_tests: bool = False) -> Scheme:
        return make_scheme(self.name, self.parameters, insecure_for_tests=insecure_for_tests)

    def __str__(self) -> str:
        """For people: paillier (key_bits 2048)."""
        chosen = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.name} ({chosen})" if chosen else self.name


class IdentitySuccession(Statement):
    """Signed with `signing_key`, the one that is succeeded."""

    typ: ClassVar[str] = "fedperm-identity+jwt"

    signing_key: KeyText
    successor: KeyText
    iat: PosixSeconds


class EpochRecord(Statement):
    """`keys` says who holds the secret half; `public` is the key as its scheme writes it."""

    typ: ClassVar[str] = "fedperm-epoch+jwt"

    key: KeyField
    epoch: EpochField
    scheme: SchemeSpec
    keys: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$")] = "shared"
    public: Annotated[dict[str, KeyMaterial], Field(max_length=16)]
    key_id: Sha256
    iat: int

    @model_validator(mode="before")
    @classmethod
    def _of_fedperm_1(cls, members: Any) -> Any:
        """Records signed under the first version knew Paillier alone, and cannot be signed anew."""
        if isinstance(members, dict) and {"key_bits", "n"} <= members.keys():
            rest = {name: members[name] for name in members.keys() - {"key_bits", "n"}}
            scheme = {"name": "paillier", "parameters": {"key_bits": members["key_bits"]}}
            return {**rest, "scheme": scheme, "public": {"n": members["n"]}}
        return members

    def public_key(self, *, insecure_for_tests: bool = False) -> PublicKey:
        """The key, checked against the record's own parameters and fingerprint."""
        scheme = self.scheme.scheme(insecure_for_tests=insecure_for_tests)
        public_key = scheme.public_key(self.public)
        if public_key.key_id != self.key_id:
            raise UntrustedError(
                f"epoch {self.epoch} of key {self.key} does not hold the key that it names",
                "get the record again from the key server",
            )
        return public_key


class EpochNotice(Statement):
    """Which epoch of a key is the newest. `nonce` was drawn by whoever asked, just before: the
    notice is not older than the question, whatever stands in between and whatever clocks say."""

    typ: ClassVar[str] = "fedperm-newest+jwt"

    key: KeyField
    epoch: EpochField
    nonce: Nonce
    iat: int


class KeyRelease(Statement):
    """`sealed` is HPKE (fedperm_secret.sealed) in base64url."""

    typ: ClassVar[str] = "fedperm-release+jwt"

    key: KeyField
    epoch: EpochField
    key_id: Sha256
    client: ClientField
    sealed: str
    iat: int


class AuditHead(Statement):
    """The number and the hash of the last entry."""

    typ: ClassVar[str] = "fedperm-audit-head+jwt"

    number: Annotated[int, Field(ge=1, lt=1 << 31)]
    hash: Sha256
    iat: int


class ClientCertificate(Statement):
    """Whose statements a signing key signs: clients can verify each other by it."""

    typ: ClassVar[str] = "fedperm-client+jwt"

    key: KeyField
    client: ClientField
    signing_key: KeyText
    iat: int


class Expiring(Statement):
    iat: PosixSeconds
    exp: PosixSeconds
    jti: Annotated[str, Field(pattern=r"^[!-~]{1,64}$")]

    def check_time(self, now: float) -> None:
        if not self.iat - CLOCK_LEEWAY_SECONDS <= now <= self.exp + CLOCK_LEEWAY_SECONDS:
            raise UnauthenticatedError(
                "the credential has expired, or is not valid yet",
                "get a new one, and check the clocks of both machines",
            )


class AccessToken(Expiring):
    """`iss` is the fingerprint of the key server's signing key, `sub` the client."""

    typ: ClassVar[str] = "at+jwt"

    iss: Sha256
    sub: ClientField
    aud: Audience
    scope: Scope
    key: KeyField
    cnf: Confirmation


class EnrolmentProof(Statement):
    """Signed with `signing_key` itself. `token` is the SHA-256 of the enrolment token's text, `aud`
    the fingerprint in it. It says no time: the token does, and the same request sent again must be
    the same octets."""

    typ: ClassVar[str] = "fedperm-enrolment+jwt"

    key: KeyField
    aud: Sha256
    token: Sha256
    signing_key: KeyText
    sealing_key: SealingKeyText


class ClientAssertion(Expiring):
    """`iss` is the client, `aud` the fingerprint of the key server's signing key."""

    typ: ClassVar[str] = "fedperm-assertion+jwt"

    iss: ClientField
    aud: Sha256
    key: KeyField


UPDATE_KIND: Final = "update"


class Manifest(Statement):
    """Binds a submission to its run, round, key epoch and sender; `document` is the run's hash,
    `kind` a kind of `fedperm.submissions`. `tensors` has the digest of each tensor apart, so that
    who has one of them can check it without the others; a manifest of fedperm/1 has none."""

    typ: ClassVar[str] = "fedperm-manifest+jwt"

    run: RunField
    document: Sha256
    round: RoundField
    epoch: EpochField
    client: ClientField
    kind: Word = UPDATE_KIND
    sha256: Sha256
    size: int
    tensors: Annotated[dict[str, Sha256], Field(max_length=16)] = Field(default_factory=dict)


class DocumentSignature(Statement):
    """By the key that the run's document itself names (`operator.signing_key`): whoever pins that
    key, or the hash, takes the run from nobody else. `document` is the hash of its bytes."""

    typ: ClassVar[str] = "fedperm-document+jwt"

    run: RunField
    document: Sha256


class CheckpointStatement(Statement):
    """What a contributor to a round found: the digest of the model after it, sealed to the run's
    clients under the key of `epoch`. `lineage` is that of `fedperm.lineage`. It holds nothing that
    follows from the model alone: whoever chooses an aggregate must not be able to compare."""

    typ: ClassVar[str] = "fedperm-checkpoint+jwt"

    run: RunField
    document: Sha256
    round: RoundField
    epoch: EpochField
    lineage: Sha256
    sha256: Sha256
    size: int
    client: ClientField
