"""What the audit log records, all of it in one place: no detail here may be a secret."""

from dataclasses import dataclass
from enum import StrEnum

from fedperm.wire.public_keys import fingerprint
from fedperm_keyserver.records import Client, Epoch, Key, StoredIdentity, Token


class EventKind(StrEnum):
    IDENTITY_CREATED = "identity-created"
    KEY_CREATED = "key-created"
    KEY_ROTATED = "key-rotated"
    TOKEN_MINTED = "token-minted"  # noqa: S105 (a name, not a secret)
    TOKEN_REVOKED = "token-revoked"  # noqa: S105
    CLIENT_ENROLLED = "client-enrolled"
    ENROLMENT_REFUSED = "enrolment-refused"
    CLIENT_REVOKED = "client-revoked"
    KEY_RELEASED = "key-released"


@dataclass(frozen=True)
class Event:
    kind: EventKind
    details: dict[str, str | int | None]


def identity_created(identity: StoredIdentity) -> Event:
    return Event(EventKind.IDENTITY_CREATED, {"fingerprint": fingerprint(identity.signing_key)})


def key_created(key: Key) -> Event:
    return Event(
        EventKind.KEY_CREATED,
        {
            "key": key.name,
            "scheme": key.scheme,
            **key.parameters,
            "keys": key.keys,
            "epoch": 1,
            "key_id": key.key_id,
        },
    )


def key_rotated(epoch: Epoch, why: str) -> Event:
    return Event(
        EventKind.KEY_ROTATED,
        {"key": epoch.key, "epoch": epoch.number, "key_id": epoch.key_id, "why": why},
    )


def token_minted(token: Token) -> Event:
    return Event(
        EventKind.TOKEN_MINTED,
        {"key": token.key, "token": token.id, "uses": token.uses, "client": token.client},
    )


def token_revoked(token: Token, why: str) -> Event:
    return Event(EventKind.TOKEN_REVOKED, {"key": token.key, "token": token.id, "why": why})


def client_enrolled(client: Client) -> Event:
    return Event(
        EventKind.CLIENT_ENROLLED,
        {
            "key": client.key,
            "client": client.name,
            "ordinal": client.ordinal,
            "token": client.token,
            "signing_key": client.signing_key,
            "sealing_key": client.sealing_key,
        },
    )


def enrolment_refused(key: str, token: str, signing_key: str, why: str) -> Event:
    return Event(
        EventKind.ENROLMENT_REFUSED,
        {"key": key, "token": token, "signing_key": signing_key, "why": why},
    )


def client_revoked(client: Client, epoch: Epoch) -> Event:
    return Event(
        EventKind.CLIENT_REVOKED,
        {"key": client.key, "client": client.name, "epoch": epoch.number},
    )


def key_released(epoch: Epoch, client: str, release_sha256: str) -> Event:
    """With the hash of the signed release: it says which sealed key left."""
    return Event(
        EventKind.KEY_RELEASED,
        {
            "key": epoch.key,
            "epoch": epoch.number,
            "key_id": epoch.key_id,
            "client": client,
            "release_sha256": release_sha256,
        },
    )
