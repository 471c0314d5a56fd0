"""Who this client is: two key pairs of its own, and what the key server made of them.

The keys are on disk before the first request: should the answer be lost, the same request is sent
again, and the key server recognises it. The key server's signing key is pinned from then on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError

from fedperm.api.key_server import KeyServerApi
from fedperm.crash_points import persisting
from fedperm.durable_file import create_durably, write_durably
from fedperm.errors import SettingsError, UntrustedError
from fedperm.ids import ClientName, KeyName
from fedperm.wire.digest import sha256_of
from fedperm.wire.enrolment_token import EnrolmentToken
from fedperm.wire.key_server import Enrolled, Enrolment, Identity
from fedperm.wire.public_keys import KeyText, fingerprint, signing_key
from fedperm.wire.signed import sign
from fedperm.wire.statements import EnrolmentProof
from fedperm.wire.succession import followed
from fedperm_client.errors import StateError
from fedperm_secret.key_pairs import KeyPairs


@dataclass(frozen=True, repr=False)
class ClientKeys(KeyPairs):
    """In a file of mode 0600."""

    @classmethod
    @persisting
    def kept_at(cls, path: Path, randomness: Random) -> "ClientKeys":
        """The keys in the file; new ones, on disk before they are returned, if there is none."""
        if not path.exists():
            create_durably(path, cls.drawn(randomness).to_json())
        with _undamaged(path):
            return cls.from_json(path.read_bytes())

    def enrolment(self, key: KeyName, token: EnrolmentToken) -> Enrolment:
        proof = EnrolmentProof(
            key=key,
            aud=token.fingerprint,
            token=sha256_of(token.text.encode()),
            signing_key=self.signing_text,
            sealing_key=self.sealing_text,
        )
        return Enrolment(token=token.text, proof=sign(proof, self.signing))


@dataclass(frozen=True)
class ClientIdentity:
    """An enrolled client; `enrolled.key_server` is pinned. `successors` are the signing keys that
    succeeded that one, as far as the client has followed them."""

    keys: ClientKeys
    enrolled: Enrolled
    successors: tuple[KeyText, ...] = ()

    def following(self, key_server: Identity) -> "ClientIdentity":
        pin = fingerprint(self.enrolled.key_server.signing_key)
        _, *successors = followed(pin, key_server)
        return replace(self, successors=tuple(successors))

    @property
    def believed(self) -> tuple[KeyText, ...]:
        """The signing keys that may speak for the key server, the newest one last."""
        return (self.enrolled.key_server.signing_key, *self.successors)

    @property
    def name(self) -> ClientName:
        return self.enrolled.client

    @property
    def key(self) -> KeyName:
        """The name of the key that it is enrolled for."""
        return self.enrolled.key

    @property
    def key_server_fingerprint(self) -> str:
        """Of the newest."""
        return fingerprint(self.believed[-1])

    @property
    def key_servers(self) -> tuple[Ed25519PublicKey, ...]:
        return tuple(map(signing_key, self.believed))


def kept_identity(path: Path, keys: ClientKeys, key: KeyName) -> ClientIdentity | None:
    """From an earlier enrolment; None if there was none."""
    if not path.exists():
        return None
    with _undamaged(path):
        enrolled = Enrolled.model_validate_json(path.read_bytes())
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
    enrolled = await key_server.enrol(key, keys.enrolment(key, token))
    try:
        followed(token.fingerprint, enrolled.key_server)
    except UntrustedError:
        raise UntrustedError(
            "the key server's signing key is not the one that the enrolment token names",
            "check the address and the CA; somebody may stand between",
        ) from None
    if enrolled.key != key:
        raise UntrustedError(
            f"enrolled for the key {enrolled.key} instead of {key}", "ask the key operator"
        )
    keep_enrolment(path, enrolled)
    return ClientIdentity(keys, enrolled)


@persisting
def keep_enrolment(path: Path, enrolled: Enrolled) -> None:
    write_durably(path, enrolled.model_dump_json().encode())


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    try:
        yield
    except ValidationError:
        raise StateError(
            f"{path} is damaged", "restore it from a backup, or start with a new state directory"
        ) from None
