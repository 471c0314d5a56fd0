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

from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.key_server import AuditEntry
from fedperm_keyserver.records import Client, Epoch, Key, StoredIdentity, Token


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        KeyName: String,
        ClientName: String,
        EpochNumber: Integer,
    }


class IdentityRow(Base):
    """One row at most."""

    __tablename__ = "identity"
    __table_args__ = (CheckConstraint("id = 1"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    signing_key: Mapped[str]
    wrapped: Mapped[bytes]

    def record(self) -> StoredIdentity:
        return StoredIdentity(self.signing_key, self.wrapped)


class KeyRow(Base):
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


class EpochRow(Base):
    __tablename__ = "epochs"

    key: Mapped[KeyName] = mapped_column(ForeignKey("keys.name"), primary_key=True)
    number: Mapped[EpochNumber] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[str] = mapped_column(unique=True)
    signed_record: Mapped[str]
    wrapped: Mapped[bytes]
    created_at: Mapped[float]

    def record(self) -> Epoch:
        return Epoch(
            self.key, self.number, self.key_id, self.signed_record, self.wrapped, self.created_at
        )


class TokenRow(Base):
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


class ClientRow(Base):
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
            revoked_at=self.revoked_at,
            revoked_into=self.revoked_into,
        )


class UsedAssertionRow(Base):
    """Assertions that bought an access token, until they expire."""

    __tablename__ = "used_assertions"
    __table_args__ = (ForeignKeyConstraint(["key", "client"], ["clients.key", "clients.name"]),)

    key: Mapped[KeyName] = mapped_column(primary_key=True)
    client: Mapped[ClientName] = mapped_column(primary_key=True)
    jti: Mapped[str] = mapped_column(primary_key=True)
    forget_after: Mapped[float] = mapped_column(index=True)


class AuditRow(Base):
    __tablename__ = "audit_entries"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[float]
    event: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(JSON)
    previous: Mapped[str] = mapped_column(unique=True)
    hash: Mapped[str]

    def entry(self) -> AuditEntry:
        return AuditEntry(
            number=self.number,
            at=self.at,
            event=self.event,
            details=self.details,
            previous=self.previous,
            hash=self.hash,
        )
