"""One data set as the data of many clients, who need not have the same classes.

Each class is dealt out by shares drawn from a Dirichlet distribution (Hsu, Qi, Brown 2019): a
large alpha gives everybody a like part of every class, a small one gives a class to few. Every
client computes the whole partition from the same seed and keeps its own part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from fedperm_client.errors import TaskError

Records = NDArray[np.intp]
"""Positions in the data set."""


@dataclass(frozen=True)
class Partition:
    """`min_records` for every shard, however the shares fall."""

    shards: int
    alpha: float
    seed: int
    min_records: int

    def cut(self, labels: NDArray[Any]) -> tuple[Records, ...]:
        """All records, each in exactly one shard."""
        if len(labels) < self.shards * self.min_records:
            raise TaskError(
                f"{len(labels):,} records are too few for {self.shards} shards of at least "
                f"{self.min_records}",
                "cut the data into fewer shards, or lower min_records",
            )
        generator = Generator(PCG64(self.seed))
        dealt = [self._deal(labels == label, generator) for label in np.unique(labels)]
        parts = [np.concatenate(hands).tolist() for hands in zip(*dealt, strict=True)]
        _top_up(parts, self.min_records)
        return tuple(np.array(part, dtype=np.intp) for part in parts)

    def _deal(self, of_the_class: NDArray[np.bool_], generator: Generator) -> list[Records]:
        records = generator.permutation(np.flatnonzero(of_the_class))
        shares = generator.dirichlet(np.full(self.shards, self.alpha))
        ends = np.rint(np.cumsum(shares)[:-1] * len(records)).astype(np.intp)
        return np.split(records, ends)


def _top_up(parts: list[list[int]], min_records: int) -> None:
    """Records go from the largest shard to the smallest until none is too small."""
    while len(smallest := min(parts, key=len)) < min_records:
        smallest.append(max(parts, key=len).pop())
