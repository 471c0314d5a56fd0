"""What only those can do who hold a secret key: make one, encrypt fast, decrypt."""

from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fedperm.schemes.scheme import Arrays, Encoder, Layout, PublicKey, Scheme
from fedperm_secret.access import SecretKeyAccess


class SecretKey(Protocol):
    """Shows nothing when printed, cannot be pickled or copied."""

    @property
    def public_key(self) -> PublicKey: ...


class SecretHalf(Protocol):
    """A secret key and a layout, in memory only."""

    def with_layout(self, layout: Layout) -> "SecretHalf":
        """The same key and tables for another layout."""
        ...

    def warm_up(self) -> None:
        """Makes the tables that encryption is fast by: seconds of work, kept off event loops."""
        ...

    def encoder(self, randomness: Random) -> Encoder:
        """Each has what it made ahead of time to itself; all share the tables."""
        ...

    def decrypt(self, total: Arrays) -> NDArray[np.int64]:
        """The integer sums (windows, k1). An AggregateError, without a decrypted value, for what
        cannot be a sum of well-formed updates."""
        ...


class SecretScheme(Protocol):
    """The secret half of the scheme of this name."""

    @property
    def name(self) -> str: ...

    def generate(self, scheme: Scheme, randomness: Random) -> SecretKey: ...

    def measuring_key(self, scheme: Scheme, randomness: Random) -> SecretKey:
        """A key to measure with, and for nothing else: it protects nothing."""
        ...

    def to_bytes(self, key: SecretKey, access: SecretKeyAccess) -> bytes:
        """The key in the open: encrypt before it leaves memory."""
        ...

    def from_bytes(self, data: bytes, scheme: Scheme, access: SecretKeyAccess) -> SecretKey:
        """The inverse; what is damaged or of other parameters is refused without showing it."""
        ...

    def secret_half(self, key: SecretKey, layout: Layout) -> SecretHalf: ...
