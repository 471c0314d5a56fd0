"""What a client uploads in the clear, and the patterns behind it, written down beside it.

Nothing of this is in the product: a client keeps its patterns nowhere. Here the generator that it
is given remembers what it shuffled, and its line to the aggregator what passed.
"""

from collections.abc import MutableSequence
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from fedperm.api.aggregator import AggregatorApi
from fedperm.api.connection import Connection
from fedperm.ids import ClientName, RoundNumber, RunName
from fedperm.permutation import unshuffle
from fedperm.submissions import SubmissionKind
from fedperm.windows import Geometry
from fedperm.wire.aggregator import SubmissionReceipt


class RememberingRandom(SystemRandom):
    """The operating system's. Only patterns are shuffled."""

    def __init__(self) -> None:
        super().__init__()
        self._shuffled: list[list[Any]] = []

    def shuffle(self, x: MutableSequence[Any]) -> None:
        super().shuffle(x)
        self._shuffled.append(list(x))

    def take(self) -> list[list[Any]]:
        """What was shuffled since it was asked last."""
        taken, self._shuffled = self._shuffled, []
        return taken


@dataclass(frozen=True, eq=False)
class RecordedUpload:
    values: NDArray[Any]
    patterns: NDArray[np.intp]

    def coded(self, geometry: Geometry) -> NDArray[Any]:
        """The integers before they were shuffled."""
        return unshuffle(self.values, list(self.patterns), geometry)


class Notebook:
    """One file a round."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, number: int, body: bytes, patterns: list[list[Any]]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        values = safetensors.numpy.load(body)["values"]
        np.savez(self._path(number), values=values, patterns=np.array(patterns, np.intp))

    def has(self, number: int) -> bool:
        return self._path(number).exists()

    def read(self, number: int) -> RecordedUpload:
        with np.load(self._path(number)) as file:
            return RecordedUpload(file["values"], file["patterns"])

    def _path(self, number: int) -> Path:
        return self._folder / f"round-{number}.npz"


class RecordingAggregator(AggregatorApi):
    """The aggregator's interface; an upload is written down before it leaves."""

    def __init__(
        self, connection: Connection, notebook: Notebook, randomness: RememberingRandom
    ) -> None:
        super().__init__(connection)
        self._notebook = notebook
        self._randomness = randomness

    async def submit(
        self,
        kind: SubmissionKind,
        run: RunName,
        number: RoundNumber,
        client: ClientName,
        body: bytes,
        manifest: str,
        token: str,
    ) -> SubmissionReceipt:
        if not self._notebook.has(number):  # a client sends the same again if an answer is lost
            self._notebook.write(number, body, self._randomness.take())
        return await super().submit(kind, run, number, client, body, manifest, token)
