"""What a scheme is: one way to encrypt masks and to add up what they unshuffle.

Arrays go in and arrays come out; the numbers behind them never leave a scheme's own room. A
`Scheme` makes a `Layout` for a run's geometry, and from it and a `PublicKey` a `PublicHalf`, which
is all that an aggregator uses. What only clients can do is in `fedperm_secret.schemes`.

A scheme is registered by its name (`registry`), and one contract test runs for every one of them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from numpy.typing import NDArray

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import BlobRef
from fedperm.permutation import Permutation
from fedperm.windows import Geometry
from fedperm.wire.body import Tensor
from fedperm.workers import Workers

MAX_CLIENTS = (1 << 32) - 1
"""Their count travels in 32 bits, and sums of 20-bit values then fit a double exactly."""

Arrays = Mapping[str, NDArray[Any]]
"""Tensors of a message, by name."""

OnProgress = Callable[[int, int], None]
"""Called with (jobs done, jobs in all)."""


def ignore_progress(_done: int, _total: int) -> None:
    """For callers without a progress bar."""


@dataclass(frozen=True)
class Work:
    """What an operation cost, all processes together; `counts` are in the scheme's own words."""

    cpu_seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Work") -> "Work":
        return Work(self.cpu_seconds + other.cpu_seconds, self.counts + other.counts)


@dataclass(frozen=True)
class StoredUpload:
    """An upload where it lies, and where each of its tensors begins."""

    blob: BlobRef
    offsets: Mapping[str, int]

    def read(self, tensor: str, start: int, length: int) -> bytes:
        """A part of a tensor; nothing else of the upload is read."""
        return open_blob(self.blob).read(self.offsets[tensor] + start, length)


@dataclass(frozen=True, eq=False)
class MaskedValues:
    """One client's share of a fold: its masks where they lie, its values as they are to count."""

    upload: StoredUpload
    values: NDArray[Any]


@dataclass(frozen=True)
class Costs:
    """What a round of all planned clients takes, counted and not timed.

    `ciphertexts` are what one client encrypts, `units` those of them that hold a 1, `sums` what is
    published. `fold` is counted as `Work.counts` is, `fold_weight` in the scheme's unit of work.
    Octets are what a client and a worker hold beside the program itself.
    """

    ciphertexts: int
    units: int
    sums: int
    fold: Counter[str]
    fold_weight: float
    client_octets: int
    worker_octets: int


class Layout(Protocol):
    """The shape of masks and sums in one run, and the reasons for it. Equal runs, equal layouts."""

    @property
    def clients(self) -> int:
        """As many contributions fit into a sum."""
        ...

    @property
    def masks(self) -> tuple[Tensor, ...]:
        """What the masks of one upload travel as."""
        ...

    @property
    def sums(self) -> tuple[Tensor, ...]:
        """What a sum travels as."""
        ...

    @property
    def reasons(self) -> tuple[str, ...]:
        """Every choice in words."""
        ...

    @property
    def facts(self) -> Mapping[str, int]:
        """The choices as numbers, by the scheme's own names."""
        ...

    def costs(self, workers: int) -> Costs:
        """With the fold cut for so many workers."""
        ...

    def weight(self, counts: Counter[str]) -> float:
        """What `Work.counts` come to, in the unit that a machine's speed is measured in."""
        ...


class PublicHalf(Protocol):
    """A public key and a layout: everything that an aggregator does. Worker processes get it."""

    @property
    def layout(self) -> Layout: ...

    def check_masks(self, masks: Arrays) -> None:
        """Refuses what is no encryption under this key; no number goes into the error."""
        ...

    def check_sum(self, total: Arrays) -> None:
        """The same for a sum."""
        ...

    def fold(
        self,
        updates: Sequence[MaskedValues],
        workers: Workers,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        """The encrypted sum of what the masks make of the values (Algorithm 1, line 16)."""
        ...

    def combine(self, parts: Sequence[Arrays]) -> Arrays:
        """The sum of sums; whoever calls knows that they fit (`Layout.clients`)."""
        ...

    def rerandomise(
        self,
        total: Arrays,
        randomness: Random,
        workers: Workers,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        """The same sum in fresh ciphertexts: it shows the sum and not how it was made."""
        ...

    def encoder(self, randomness: Random) -> "Encoder":
        """Encrypts with the public key alone, slowly."""
        ...


class PublicKey(Protocol):
    """What an epoch's record holds."""

    @property
    def key_id(self) -> str:
        """The fingerprint: SHA-256 in hexadecimal."""
        ...

    @property
    def material(self) -> Mapping[str, str]:
        """The key as it travels."""
        ...


class Scheme(Protocol):
    """A scheme with its parameters chosen."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, int]:
        """As they travel."""
        ...

    @property
    def key_bits(self) -> int:
        """What a client's floor is compared with; 0 for a scheme that protects nothing."""
        ...

    def layout(self, geometry: Geometry, value_bits: int, clients: int) -> Layout: ...

    def public_key(self, material: Mapping[str, str]) -> PublicKey:
        """From a record; refuses a key that is weak or not of these parameters."""
        ...

    def public_half(self, key: PublicKey, layout: Layout) -> PublicHalf:
        """Refuses a key or a layout of another scheme or of other parameters."""
        ...


class Encoder(Protocol):
    """Encrypts masks for one upload after the other. In memory only: what it makes ahead of time
    must be used once."""

    @property
    def ahead(self) -> int:
        """Pieces of work that one upload takes and that need no data."""
        ...

    @property
    def ready(self) -> int:
        """How many of them are done."""
        ...

    def fill(self, count: int) -> None:
        """Does so many more."""
        ...

    def filling(self) -> AbstractContextManager[None]:
        """Does as many as one upload takes, in the background, while the block lasts."""
        ...

    def encode(self, patterns: Sequence[Permutation]) -> Arrays:
        """The masks of all patterns, as `Layout.masks` (Algorithm 1, lines 11 and 12)."""
        ...
