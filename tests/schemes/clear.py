"""A scheme of two pages, for tests alone: masks are permutations in the clear, and sums are sums.

It protects nothing. That it passes the contract and carries a whole federation shows that nothing
outside a scheme's own room knows Paillier.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import CiphertextError, KeyStrengthError, ParameterError, TooManyClientsError
from fedperm.permutation import Permutation, unshuffle
from fedperm.schemes.registry import SCHEMES
from fedperm.schemes.scheme import Arrays, Costs, MaskedValues, OnProgress, Work, ignore_progress
from fedperm.windows import Geometry
from fedperm.wire.body import Tensor
from fedperm.workers import Workers
from fedperm_secret.access import SecretKeyAccess, check_access
from fedperm_secret.schemes.registry import SECRET_SCHEMES


@dataclass(frozen=True)
class ClearLayout:
    geometry: Geometry
    clients: int

    @property
    def masks(self) -> tuple[Tensor, ...]:
        shape = (self.geometry.patterns, self.geometry.k1)
        return (Tensor("positions", np.dtype("<u4"), shape),)

    @property
    def sums(self) -> tuple[Tensor, ...]:
        shape = (self.geometry.windows, self.geometry.k1)
        return (Tensor("sums", np.dtype("<f8"), shape),)

    @property
    def reasons(self) -> tuple[str, ...]:
        return ("clear: nothing is encrypted",)

    @property
    def facts(self) -> Mapping[str, int]:
        return {"key_bits": 0}

    def costs(self, workers: int) -> Costs:
        positions, sums = self.geometry.patterns * self.geometry.k1, self.geometry.padded_d
        additions = Counter(modmuls=sums * self.clients)
        return Costs(positions, positions, sums, additions, additions["modmuls"] / workers, 1, 1)

    def weight(self, counts: Counter[str]) -> float:
        return float(counts["modmuls"])


@dataclass(frozen=True)
class ClearKey:
    """A name, so that epochs differ."""

    name: str

    @property
    def key_id(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def material(self) -> Mapping[str, str]:
        return {"name": self.name}


@dataclass(frozen=True)
class ClearHalf:
    layout: ClearLayout

    def check_masks(self, masks: Arrays) -> None:
        rows = np.arange(self.layout.geometry.k1)
        if not all(np.array_equal(np.sort(row), rows) for row in masks["positions"]):
            raise CiphertextError("a mask is no permutation", "draw one")

    def check_sum(self, total: Arrays) -> None:
        if not (np.isfinite(total["sums"]) & (total["sums"] >= 0)).all():
            raise CiphertextError("a sum is no number", "add up again")

    def fold(
        self,
        updates: Sequence[MaskedValues],
        workers: Workers,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        geometry = self.layout.geometry
        if len(updates) > self.layout.clients:
            raise TooManyClientsError(f"{len(updates)} contributions", "fold fewer")
        if not updates:
            raise ParameterError("no update to fold", "wait for one")
        jobs = [(update, geometry) for update in updates]
        sums = np.zeros((geometry.windows, geometry.k1))
        for done, (_, part) in enumerate(workers.run(_contribution, jobs), 1):
            sums += part
            on_progress(done, len(jobs))
        return {"sums": sums}, Work(0.0, Counter(modmuls=sums.size * len(updates)))

    def combine(self, parts: Sequence[Arrays]) -> Arrays:
        return {"sums": np.sum([part["sums"] for part in parts], axis=0)}

    def rerandomise(
        self,
        total: Arrays,
        randomness: Random,  # noqa: ARG002
        workers: Workers,  # noqa: ARG002
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Arrays, Work]:
        on_progress(1, 1)
        return total, Work()

    def encoder(self, randomness: Random) -> "ClearEncoder":  # noqa: ARG002
        return ClearEncoder(self.layout)


def _contribution(job: tuple[MaskedValues, Geometry]) -> NDArray[Any]:
    update, geometry = job
    count = geometry.patterns * geometry.k1
    octets = update.upload.read("positions", 0, 4 * count)
    patterns = np.frombuffer(octets, "<u4").reshape(geometry.patterns, geometry.k1)
    return unshuffle(update.values.astype(np.float64), list(patterns.astype(np.intp)), geometry)


@dataclass(frozen=True)
class ClearEncoder:
    layout: ClearLayout
    ahead: int = 0
    ready: int = 0

    def fill(self, count: int) -> None:
        """Nothing can be done before the patterns are drawn."""

    def filling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def encode(self, patterns: Sequence[Permutation]) -> Arrays:
        geometry, rows = self.layout.geometry, np.arange(self.layout.geometry.k1)
        well_formed = all(np.array_equal(np.sort(pattern), rows) for pattern in patterns)
        if len(patterns) != geometry.patterns or not well_formed:
            raise ParameterError(f"not {geometry.patterns} permutation(s)", "draw them")
        return {"positions": np.stack(patterns).astype("<u4")}


@dataclass(frozen=True)
class Clear:
    name: ClassVar[str] = "clear"
    key_bits: ClassVar[int] = 0

    @property
    def parameters(self) -> Mapping[str, int]:
        return {}

    def layout(self, geometry: Geometry, value_bits: int, clients: int) -> ClearLayout:  # noqa: ARG002
        return ClearLayout(geometry, clients)

    def public_key(self, material: Mapping[str, str]) -> ClearKey:
        match material:
            case {"name": str(name)} if len(material) == 1:
                return ClearKey(name)
        raise KeyStrengthError("a key of the scheme clear is a name", "give its name")

    def public_half(self, key: Any, layout: Any) -> ClearHalf:
        if not (isinstance(key, ClearKey) and isinstance(layout, ClearLayout)):
            raise ParameterError("a key or a layout of another scheme", "plan the run for its key")
        return ClearHalf(layout)


def make_clear(parameters: Mapping[str, int], *, insecure_for_tests: bool) -> Clear:
    if parameters:
        raise ParameterError("the scheme clear has no parameters", "leave them out")
    if not insecure_for_tests:
        raise KeyStrengthError("the scheme clear protects nothing", "choose another")
    return Clear()


class ClearSecretKey:
    def __init__(self, name: str) -> None:
        self.public_key = ClearKey(name)

    def __repr__(self) -> str:
        return "<ClearSecretKey>"

    def __reduce__(self) -> Any:
        raise TypeError("a secret key cannot be pickled or copied")


class ClearSecretHalf:
    def __init__(self, layout: ClearLayout) -> None:
        self._layout = layout

    def __reduce__(self) -> Any:
        raise TypeError("this holds a secret key")

    def with_layout(self, layout: ClearLayout) -> "ClearSecretHalf":
        return ClearSecretHalf(layout)

    def warm_up(self) -> None:
        """There are no tables."""

    def encoder(self, randomness: Random) -> ClearEncoder:  # noqa: ARG002
        return ClearEncoder(self._layout)

    def decrypt(self, total: Arrays) -> NDArray[np.int64]:
        return total["sums"].astype(np.int64)


class SecretClear:
    name: ClassVar[str] = Clear.name

    def generate(self, scheme: Clear, randomness: Random) -> ClearSecretKey:  # noqa: ARG002
        return ClearSecretKey(f"{randomness.getrandbits(64):x}")

    measuring_key = generate

    def to_bytes(self, key: ClearSecretKey, access: SecretKeyAccess) -> bytes:
        check_access(access)
        return json.dumps(key.public_key.material).encode()

    def from_bytes(self, data: bytes, scheme: Clear, access: SecretKeyAccess) -> ClearSecretKey:
        check_access(access)
        try:
            return ClearSecretKey(scheme.public_key(json.loads(data)).name)
        except (ValueError, RecursionError):
            raise KeyStrengthError("these bytes are no secret key", "restore the key") from None

    def secret_half(self, key: ClearSecretKey, layout: ClearLayout) -> ClearSecretHalf:
        if not isinstance(key, ClearSecretKey):
            raise ParameterError("a secret key of another scheme", "use its own secret half")
        return ClearSecretHalf(layout)


@contextmanager
def clear_scheme() -> Iterator[None]:
    """Registered while the block lasts."""
    with ExitStack() as stack:
        stack.enter_context(SCHEMES.registered(Clear.name, make_clear))
        stack.enter_context(SECRET_SCHEMES.registered(Clear.name, SecretClear()))
        yield
