"""Tables. Unique constraints protect what must be unique, whichever database it is."""

from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from fedperm.audit_register import ClientStanding, Register, TokenStanding
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.marks import Marked
from fedperm_keyserver.records import (
    Client,
    Epoch,
    Key,
    StoredIdentity,
    StoredIntegrityKey,
    Token,
    Wrapped,
)


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        KeyName: String,
        ClientName: String,
        EpochNumber: Integer,
    }


class SecretRow(Base):
    """A row with a secret under the key-encryption key. Whatever holds one inherits from here, so
    that none is forgotten when that key is changed."""

    __abstract__ = True

    wrapped: Mapped[bytes]

    def record(self) -> Wrapped:
        raise NotImplementedError


class IdentityRow(Marked, SecretRow):
    """One after the other; they stay, for what they have signed."""

    __tablename__ = "identities"

    generation: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    signing_key: Mapped[str] = mapped_column(unique=True)
    succession: Mapped[str | None]

    def record(self) -> StoredIdentity:
        return StoredIdentity(self.signing_key, self.wrapped, self.generation, self.succession)

    def agrees_with(self, register: Register) -> bool:
        fingerprint = self.record().fingerprint
        is_retired = fingerprint in register.retired
        return fingerprint in register.identities and is_retired is (not self.wrapped)


class IntegrityKeyRow(SecretRow):
    """One row at most: the key of the marks, wrapped."""

    __tablename__ = "integrity_key"
    __table_args__ = (CheckConstraint("id = 1"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)

    def record(self) -> StoredIntegrityKey:
        return StoredIntegrityKey(self.wrapped)


class KeyRow(Marked, Base):
    __tablename__ = "keys"

    name: Mapped[KeyName] = mapped_column(primary_key=True)
    latest_epoch: Mapped[EpochNumber]
    key_id: Mapped[str]
    created_at: Mapped[float]
    scheme: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(JSON)
    keys: Mapped[str]

    def record(self) -> Key:
        return Key(
            name=self.name,
            scheme=self.scheme,
            parameters=self.parameters,
            keys=self.keys,
            latest_epoch=self.latest_epoch,
            key_id=self.key_id,
            created_at=self.created_at,
        )

    def agrees_with(self, register: Register) -> bool:
        said = register.keys.get(self.name)
        return said is not None and (said.latest_epoch, said.key_id) == (
            self.latest_epoch,
            self.key_id,
        )


class EpochRow(Marked, SecretRow):
    __tablename__ = "epochs"

    key: Mapped[KeyName] = mapped_column(ForeignKey("keys.name"), primary_key=True)
    number: Mapped[EpochNumber] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[str] = mapped_column(unique=True)
    signed_record: Mapped[str]
    created_at: Mapped[float]
    destroyed_at: Mapped[float | None]

    def record(self) -> Epoch:
        return Epoch(
            self.key,
            self.number,
            self.key_id,
            self.signed_record,
            self.wrapped,
            self.created_at,
            self.destroyed_at,
        )

    def agrees_with(self, register: Register) -> bool:
        place = self.key, self.number
        is_destroyed = place in register.destroyed
        return register.epochs.get(place) == self.key_id and is_destroyed is (not self.wrapped)


class TokenRow(Marked, Base):
    __tablename__ = "enrolment_tokens"
    __table_args__ = (CheckConstraint("used <= uses"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[KeyName] = mapped_column(ForeignKey("keys.name"), index=True)
    secret_sha256: Mapped[bytes]
    uses: Mapped[int]
    used: Mapped[int]
    expires_at: Mapped[float]
    revoked: Mapped[bool]
    client: Mapped[ClientName | None]

    def record(self) -> Token:
        return Token(
            id=self.id,
            key=self.key,
            secret_sha256=self.secret_sha256,
            uses=self.uses,
            used=self.used,
            expires_at=self.expires_at,
            revoked=self.revoked,
            client=self.client,
        )

    def agrees_with(self, register: Register) -> bool:
        shown = TokenStanding(self.key, self.uses, self.client, self.used, self.revoked)
        return register.tokens.get(self.id) == shown


class ClientRow(Marked, Base):
    """Rows stay for ever: names and ordinals are never given twice."""

    __tablename__ = "clients"
    __table_args__ = (UniqueConstraint("key", "ordinal"), UniqueConstraint("key", "signing_key"))

    key: Mapped[KeyName] = mapped_column(ForeignKey("keys.name"), primary_key=True)
    name: Mapped[ClientName] = mapped_column(primary_key=True)
    ordinal: Mapped[int]
    token: Mapped[str] = mapped_column(ForeignKey("enrolment_tokens.id"))
    signing_key: Mapped[str]
    sealing_key: Mapped[str]
    enrolled_at: Mapped[float]
    first_epoch: Mapped[EpochNumber | None]
    """Null where a clock was set back between a key's making and an enrolment of long ago."""
    revoked_at: Mapped[float | None]
    revoked_into: Mapped[EpochNumber | None]

    def record(self) -> Client:
        return Client(
            key=self.key,
            name=self.name,
            ordinal=self.ordinal,
            token=self.token,
            signing_key=self.signing_key,
            sealing_key=self.sealing_key,
            enrolled_at=self.enrolled_at,
            first_epoch=self.first_epoch or EpochNumber(1),
            revoked_at=self.revoked_at,
            revoked_into=self.revoked_into,
        )

    def agrees_with(self, register: Register) -> bool:
        """Entries of older versions do not say the first epoch."""
        said = register.clients.get((self.key, self.name))
        return said is not None and said == ClientStanding(
            self.ordinal,
            self.token,
            self.signing_key,
            self.sealing_key,
            None if said.first_epoch is None else self.first_epoch,
            self.revoked_into,
        )


class UsedAssertionRow(Base):
    """Assertions that bought an access token, until they expire."""

    __tablename__ = "used_assertions"
    __table_args__ = (ForeignKeyConstraint(["key", "client"], ["clients.key", "clients.name"]),)

    key: Mapped[KeyName] = mapped_column(primary_key=True)
    client: Mapped[ClientName] = mapped_column(primary_key=True)
    jti: Mapped[str] = mapped_column(primary_key=True)
    forget_after: Mapped[float] = mapped_column(index=True)


class AuditRow(Marked, Base):
    __tablename__ = "audit_entries"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[float]
    event: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(JSON)
    actor: Mapped[str | None]
    address: Mapped[str | None]
    previous: Mapped[str] = mapped_column(unique=True)
    hash: Mapped[str]

    def entry(self) -> AuditEntry:
        return AuditEntry(
            number=self.number,
            at=self.at,
            event=self.event,
            details=self.details,
            actor=self.actor,
            address=self.address,
            previous=self.previous,
            hash=self.hash,
        )

    def agrees_with(self, register: Register) -> bool:  # noqa: ARG002 (the register follows it)
        return True
