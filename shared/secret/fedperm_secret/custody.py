"""Who holds what of a key epoch, and how an aggregate is opened: the axis `keys` of a run.

A dealer (the key server) deals an epoch once and stores what it will need later; each client is
given its part. Secrets are octets here, in the open: the caller wraps what it stores and seals what
it sends. What a client is given is in the end a `SecretHalf`.
"""

from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Protocol

from fedperm.axes import KEYS
from fedperm.ids import ClientName
from fedperm.registry import Registry
from fedperm.schemes.scheme import Layout, PublicKey, Scheme
from fedperm_secret.access import SECRET_KEY_ACCESS
from fedperm_secret.reader_key import ReaderKey
from fedperm_secret.schemes.registry import SECRET_SCHEMES
from fedperm_secret.schemes.scheme import SecretHalf, SecretKey

__all__ = ["CUSTODIES", "SHARED", "Custody", "Dealt"]


@dataclass(frozen=True)
class Dealt:
    """A new epoch: how and for whom it was dealt, its public key, what the dealer keeps of it."""

    custody: str
    scheme: Scheme
    public_key: PublicKey
    kept: bytes = field(repr=False)


class Custody(Protocol):
    @property
    def name(self) -> str: ...

    def deal(self, scheme: Scheme, randomness: Random) -> Dealt:
        """Takes seconds."""
        ...

    def part_of(self, client: ClientName, kept: bytes) -> bytes:
        """What this client is given of an epoch."""
        ...

    def receive(self, part: bytes, scheme: Scheme) -> SecretKey:
        """What a client makes of its part; refuses what is damaged without showing any of it."""
        ...

    def half(self, held: SecretKey, scheme: Scheme, layout: Layout) -> SecretHalf:
        """With which a client encodes, and opens an aggregate."""
        ...

    def reader_key(self, held: SecretKey, scheme: Scheme) -> ReaderKey:
        """The same for every client that holds the epoch, and known to nobody else but the
        dealer."""
        ...


class SharedKey:
    """All clients hold the whole secret key, as in the paper; each opens every aggregate alone."""

    name: ClassVar[str] = "shared"

    def deal(self, scheme: Scheme, randomness: Random) -> Dealt:
        secret_scheme = SECRET_SCHEMES[scheme.name]
        key = secret_scheme.generate(scheme, randomness)
        kept = secret_scheme.to_bytes(key, SECRET_KEY_ACCESS)
        return Dealt(self.name, scheme, key.public_key, kept)

    def part_of(
        self,
        client: ClientName,  # noqa: ARG002 (the same for everybody)
        kept: bytes,
    ) -> bytes:
        return kept

    def receive(self, part: bytes, scheme: Scheme) -> SecretKey:
        return SECRET_SCHEMES[scheme.name].from_bytes(part, scheme, SECRET_KEY_ACCESS)

    def half(self, held: SecretKey, scheme: Scheme, layout: Layout) -> SecretHalf:
        return SECRET_SCHEMES[scheme.name].secret_half(held, layout)

    def reader_key(self, held: SecretKey, scheme: Scheme) -> ReaderKey:
        return ReaderKey(SECRET_SCHEMES[scheme.name].to_bytes(held, SECRET_KEY_ACCESS))


SHARED = SharedKey()
CUSTODIES: Registry[Custody] = Registry(KEYS.kind, {SHARED.name: SHARED}, KEYS.reserved)
"""One for each word of the axis `keys`."""
