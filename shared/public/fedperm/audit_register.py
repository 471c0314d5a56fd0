"""What the key server's audit log says is so: which keys, enrolment tokens and clients there are.

The chain (`audit_chain`) shows that entries follow each other; the register shows that they make
sense. Each is held against those before it: a key is released to a client that was enrolled and not
revoked, with a token that was minted and had uses left. A log that brings a client in without an
enrolment is contradicted by its first release.

Entries of kinds that are not known here say nothing about it, and are passed over.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fedperm.audit_chain import broken
from fedperm.ids import ClientName, EpochNumber, KeyName
from fedperm.wire.key_server import AuditEntry

FIRST = 1
"""The number of the entry with which a key server begins."""


@dataclass(frozen=True)
class KeyStanding:
    latest_epoch: EpochNumber
    key_id: str
    clients: int = 0


@dataclass(frozen=True)
class TokenStanding:
    key: KeyName
    uses: int
    client: ClientName | None
    used: int = 0
    revoked: bool = False


@dataclass(frozen=True)
class ClientStanding:
    ordinal: int
    token: str
    signing_key: str
    sealing_key: str
    first_epoch: EpochNumber | None = None
    """Entries of older versions do not say it."""
    revoked_into: EpochNumber | None = None


class _Details(BaseModel):
    """Of one kind of entry: the members that something follows from."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Identity(_Details):
    fingerprint: str


class _Succeeded(_Identity):
    predecessor: str


class _Epoch(_Details):
    key: KeyName
    epoch: EpochNumber
    key_id: str


class _Minted(_Details):
    key: KeyName
    token: str
    uses: int
    client: ClientName | None


class _Token(_Details):
    key: KeyName
    token: str


class _Enrolled(_Details):
    key: KeyName
    client: ClientName
    ordinal: int
    token: str
    signing_key: str
    sealing_key: str
    first_epoch: EpochNumber | None = None


class _Revoked(_Details):
    key: KeyName
    client: ClientName
    epoch: EpochNumber


class _Released(_Epoch):
    client: ClientName


class _Finding(_Details):
    table: str
    row: str


@dataclass(frozen=True)
class Finding:
    """The key server found in its database what it had not written, and said so in entry
    `number`."""

    number: int
    table: str
    row: str


@dataclass
class Register:
    """Grows entry by entry. What an entry contradicts is told; the entry is not taken then."""

    identities: MutableMapping[str, int] = field(default_factory=dict)
    """Fingerprints of signing keys, each with the number of its entry; the newest one last."""
    retired: MutableMapping[str, int] = field(default_factory=dict)
    """Those whose private key was destroyed."""
    keys: MutableMapping[KeyName, KeyStanding] = field(default_factory=dict)
    epochs: MutableMapping[tuple[KeyName, EpochNumber], str] = field(default_factory=dict)
    """The fingerprint of each."""
    destroyed: MutableMapping[tuple[KeyName, EpochNumber], int] = field(default_factory=dict)
    """Epochs that are released to nobody any more, each with the number of its entry."""
    tokens: MutableMapping[str, TokenStanding] = field(default_factory=dict)
    clients: MutableMapping[tuple[KeyName, ClientName], ClientStanding] = field(
        default_factory=dict
    )
    signing_keys: MutableMapping[tuple[KeyName, str], ClientName] = field(default_factory=dict)
    """Whose they are."""
    findings: list[Finding] = field(default_factory=list)

    def draft(self) -> "Register":
        """One that goes on from here, and leaves this one as it is."""
        return Register(
            ChainMap({}, self.identities),
            ChainMap({}, self.retired),
            ChainMap({}, self.keys),
            ChainMap({}, self.epochs),
            ChainMap({}, self.destroyed),
            ChainMap({}, self.tokens),
            ChainMap({}, self.clients),
            ChainMap({}, self.signing_keys),
            list(self.findings),
        )

    def take(self, entry: AuditEntry) -> None:
        rule = _RULES.get(entry.event)
        if rule is None:
            return
        why = rule.contradiction(self, entry)
        if why is not None:
            raise broken(f"entry {entry.number} ({entry.event}) contradicts those before it: {why}")

    def take_all(self, entries: Iterable[AuditEntry]) -> None:
        for entry in entries:
            self.take(entry)

    def _create_identity(self, made: _Identity, number: int) -> str | None:
        if number != FIRST:
            return "a key server is made once"
        self.identities[made.fingerprint] = number
        return None

    @property
    def newest_identity(self) -> str | None:
        return max(self.identities, key=self.identities.__getitem__, default=None)

    def _succeed(self, made: _Succeeded, number: int) -> str | None:
        if made.predecessor != self.newest_identity:
            return "the one that it succeeds was not the newest identity"
        if made.fingerprint in self.identities:
            return "an identity is made once"
        self.identities[made.fingerprint] = number
        return None

    def _retire(self, named: _Identity, number: int) -> str | None:
        if named.fingerprint not in self.identities:
            return "there was no such identity"
        if named.fingerprint == self.newest_identity or named.fingerprint in self.retired:
            return "it is the newest identity, or was retired before"
        self.retired[named.fingerprint] = number
        return None

    def _create_key(self, made: _Epoch, _number: int) -> str | None:
        if made.key in self.keys:
            return f"there is a key {made.key}"
        if made.epoch != 1:
            return "a key begins with epoch 1"
        self._add_epoch(made, KeyStanding(made.epoch, made.key_id))
        return None

    def _rotate(self, made: _Epoch, _number: int) -> str | None:
        key = self.keys.get(made.key)
        if key is None:
            return f"there is no key {made.key}"
        if made.epoch != key.latest_epoch + 1:
            return f"after epoch {key.latest_epoch} comes {key.latest_epoch + 1}"
        self._add_epoch(made, replace(key, latest_epoch=made.epoch, key_id=made.key_id))
        return None

    def _destroy(self, named: _Epoch, number: int) -> str | None:
        key, place = self.keys.get(named.key), (named.key, named.epoch)
        if key is None or self.epochs.get(place) != named.key_id:
            return f"there is no such epoch {named.epoch} of key {named.key}"
        if named.epoch == key.latest_epoch or place in self.destroyed:
            return f"epoch {named.epoch} is the newest, or was destroyed before"
        self.destroyed[place] = number
        return None

    def _add_epoch(self, made: _Epoch, standing: KeyStanding) -> None:
        self.keys[made.key] = standing
        self.epochs[made.key, made.epoch] = made.key_id

    def _mint(self, made: _Minted, _number: int) -> str | None:
        if made.key not in self.keys:
            return f"there is no key {made.key}"
        if made.token in self.tokens:
            return f"there is a token {made.token}"
        self.tokens[made.token] = TokenStanding(made.key, made.uses, made.client)
        return None

    def _revoke_token(self, named: _Token, _number: int) -> str | None:
        token = self.tokens.get(named.token)
        if token is None or token.key != named.key:
            return f"no token {named.token} was minted for key {named.key}"
        if token.revoked:
            return f"token {named.token} was revoked before"
        self.tokens[named.token] = replace(token, revoked=True)
        return None

    def _enrol(self, new: _Enrolled, _number: int) -> str | None:
        token, key = self.tokens.get(new.token), self.keys.get(new.key)
        if token is None or key is None or token.key != new.key:
            return f"no token {new.token} was minted for key {new.key}"
        if token.revoked or token.used >= token.uses or token.client not in {None, new.client}:
            return f"token {new.token} was revoked, used up or for somebody else"
        if (new.key, new.client) in self.clients or new.ordinal != key.clients:
            return f"{new.client} is not the next client of key {new.key}"
        if (new.key, new.signing_key) in self.signing_keys:
            return "its signing key is enrolled already"
        if new.first_epoch not in {None, key.latest_epoch}:
            return f"the newest epoch of key {new.key} is {key.latest_epoch}"
        self.tokens[new.token] = replace(token, used=token.used + 1)
        self.keys[new.key] = replace(key, clients=key.clients + 1)
        self.signing_keys[new.key, new.signing_key] = new.client
        self.clients[new.key, new.client] = ClientStanding(
            new.ordinal, new.token, new.signing_key, new.sealing_key, new.first_epoch
        )
        return None

    def _revoke(self, named: _Revoked, _number: int) -> str | None:
        client = self.clients.get((named.key, named.client))
        if client is None:
            return f"{named.client} was never enrolled for key {named.key}"
        if client.revoked_into is not None:
            return f"{named.client} was revoked before"
        self.clients[named.key, named.client] = replace(client, revoked_into=named.epoch)
        return None

    def _release(self, made: _Released, _number: int) -> str | None:
        client = self.clients.get((made.key, made.client))
        if client is None:
            return f"{made.client} was never enrolled for key {made.key}"
        if client.revoked_into is not None:
            return f"{made.client} was revoked before"
        if self.epochs.get((made.key, made.epoch)) != made.key_id:
            return f"there is no such epoch {made.epoch} of key {made.key}"
        if client.first_epoch is not None and made.epoch < client.first_epoch:
            return f"{made.client} was enrolled after epoch {made.epoch}"
        if (made.key, made.epoch) in self.destroyed:
            return f"epoch {made.epoch} of key {made.key} was destroyed before"
        return None

    def _find(self, found: _Finding, number: int) -> str | None:
        self.findings.append(Finding(number, found.table, found.row))
        return None


Kind = TypeVar("Kind", bound=_Details)


@dataclass(frozen=True)
class _Rule(Generic[Kind]):
    """How entries of one kind are read, and what follows from them unless it is contradicted."""

    details: type[Kind]
    follow: Callable[[Register, Kind, int], str | None]

    def contradiction(self, register: Register, entry: AuditEntry) -> str | None:
        try:
            details = self.details.model_validate(entry.details)
        except ValidationError:
            return "its details are not those of its kind"
        return self.follow(register, details, entry.number)


_RULES: dict[str, _Rule[Any]] = {
    "identity-created": _Rule(_Identity, Register._create_identity),
    "identity-succeeded": _Rule(_Succeeded, Register._succeed),
    "identity-retired": _Rule(_Identity, Register._retire),
    "key-created": _Rule(_Epoch, Register._create_key),
    "key-rotated": _Rule(_Epoch, Register._rotate),
    "epoch-destroyed": _Rule(_Epoch, Register._destroy),
    "token-minted": _Rule(_Minted, Register._mint),
    "token-revoked": _Rule(_Token, Register._revoke_token),
    "client-enrolled": _Rule(_Enrolled, Register._enrol),
    "client-revoked": _Rule(_Revoked, Register._revoke),
    "key-released": _Rule(_Released, Register._release),
    "tampering-found": _Rule(_Finding, Register._find),
}


def register_of(entries: Iterable[AuditEntry]) -> Register:
    """Of a whole log; an error if it contradicts itself."""
    register = Register()
    register.take_all(entries)
    return register
