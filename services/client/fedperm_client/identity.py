"""Who this client is: two key pairs of its own, and what the key server made of them.

The keys are on disk before the first request: should the answer be lost, the same request is sent
again, and the key server recognises it. The key server's signing key is pinned from then on.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from pydantic import Field, ValidationError

from fedperm.api.key_server import KeyServerApi
from fedperm.crash_points import persisting
from fedperm.durable_file import write_durably
from fedperm.errors import SettingsError, UntrustedError
from fedperm.ids import ClientName, KeyName
from fedperm.wire.enrolment_token import EnrolmentToken
from fedperm.wire.key_server import Enrolled, Enrolment
from fedperm.wire.message import Message
from fedperm.wire.public_keys import KeyText, fingerprint, from_text, signing_key, text_of, to_text
from fedperm_client.errors import StateError

_OCTETS = 32


class _StoredKeys(Message):
    """Private keys, in a file of mode 0600."""

    signing_key: KeyText = Field(repr=False)
    sealing_key: KeyText = Field(repr=False)


@dataclass(frozen=True, repr=False)
class ClientKeys:
    """Ed25519 for what this client says, X25519 for what is sealed to it."""

    signing: Ed25519PrivateKey
    sealing: X25519PrivateKey

    @classmethod
    @persisting
    def kept_at(cls, path: Path, randomness: Random) -> "ClientKeys":
        """The keys in the file; new ones, on disk before they are returned, if there is none."""
        if not path.exists():
            fresh = _StoredKeys(
                signing_key=to_text(randomness.randbytes(_OCTETS)),
                sealing_key=to_text(randomness.randbytes(_OCTETS)),
            )
            write_durably(path, fresh.model_dump_json().encode())
        stored = _read(path, _StoredKeys)
        return cls(
            Ed25519PrivateKey.from_private_bytes(from_text(stored.signing_key)),
            X25519PrivateKey.from_private_bytes(from_text(stored.sealing_key)),
        )

    def enrolment(self, token: EnrolmentToken) -> Enrolment:
        return Enrolment(
            token=token.text,
            signing_key=text_of(self.signing.public_key()),
            sealing_key=text_of(self.sealing.public_key()),
        )


@dataclass(frozen=True)
class ClientIdentity:
    """An enrolled client; `enrolled.key_server` is pinned."""

    keys: ClientKeys
    enrolled: Enrolled

    @property
    def name(self) -> ClientName:
        return self.enrolled.client

    @property
    def key(self) -> KeyName:
        """The name of the key that it is enrolled for."""
        return self.enrolled.key

    @property
    def key_server(self) -> Ed25519PublicKey:
        return signing_key(self.enrolled.key_server.signing_key)

    @property
    def key_server_fingerprint(self) -> str:
        return fingerprint(self.enrolled.key_server.signing_key)


def kept_identity(path: Path, keys: ClientKeys, key: KeyName) -> ClientIdentity | None:
    """From an earlier enrolment; None if there was none."""
    if not path.exists():
        return None
    enrolled = _read(path, Enrolled)
    if enrolled.key != key:
        raise SettingsError(
            f"this client is enrolled for the key {enrolled.key}, not for {key}",
            "use another state directory for another key",
        )
    return ClientIdentity(keys, enrolled)


async def enrol(
    path: Path, keys: ClientKeys, key: KeyName, token: EnrolmentToken, key_server: KeyServerApi
) -> ClientIdentity:
    """Once in a client's life; kept at `path` if the answer is from the token's key server."""
    enrolled = await key_server.enrol(key, keys.enrolment(token))
    if fingerprint(enrolled.key_server.signing_key) != token.fingerprint:
        raise UntrustedError(
            "the key server's signing key is not the one that the enrolment token names",
            "check the address and the CA; somebody may stand between",
        )
    if enrolled.key != key:
        raise UntrustedError(
            f"enrolled for the key {enrolled.key} instead of {key}", "ask the key operator"
        )
    keep_enrolment(path, enrolled)
    return ClientIdentity(keys, enrolled)


@persisting
def keep_enrolment(path: Path, enrolled: Enrolled) -> None:
    write_durably(path, enrolled.model_dump_json().encode())


Stored = TypeVar("Stored", bound=Message)


def _read(path: Path, kind: type[Stored]) -> Stored:
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError:
        raise StateError(
            f"{path} is damaged", "restore it from a backup, or start with a new state directory"
        ) from None
