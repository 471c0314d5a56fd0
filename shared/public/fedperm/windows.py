"""How d parameters are cut into windows, and which pattern shuffles which window.

The paper's section "Computation/Communication and Utility Tradeoff": windows of k1 parameters,
window x shuffled with pattern x mod k2. The original FedPerm is k1 = d, k2 = 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.errors import ParameterError


@dataclass(frozen=True)
class Geometry:
    """The cut of a vector of d parameters: windows of k1, shuffled by k2 patterns in turn.

    d is rarely a multiple of k1, so the last window is padded. A padded position is noised like
    every other one: if it were not, it would show where the permutation put it.
    """

    d: int
    k1: int
    k2: int

    def __post_init__(self) -> None:
        for name, value in (("d", self.d), ("k1", self.k1), ("k2", self.k2)):
            if value < 1:
                raise ParameterError(f"{name} is {value}", f"choose {name} of at least 1")

    @property
    def windows(self) -> int:
        return -(-self.d // self.k1)

    @property
    def padded_d(self) -> int:
        """Positions after padding; norms, noise and the privacy ledger count all of them."""
        return self.windows * self.k1

    @property
    def patterns(self) -> int:
        """Patterns that shuffle at least one window: k2, unless there are fewer windows."""
        return min(self.k2, self.windows)

    @property
    def superwindow(self) -> int:
        """w: how many parameters move together when one pattern moves one position."""
        return -(-self.windows // self.k2)

    def pattern_of(self, window: int) -> int:
        return window % self.k2

    def windows_of(self, pattern: int) -> range:
        return range(pattern, self.windows, self.k2)

    def pad(self, vector: NDArray[Any], fill: float) -> NDArray[Any]:
        """The vector as a matrix, one window a row; padded positions hold `fill`."""
        if vector.shape != (self.d,):
            raise ParameterError(
                f"the vector has shape {vector.shape}, the geometry says ({self.d},)",
                "flatten the model's parameters, or plan for this model",
            )
        padded = np.full(self.padded_d, fill, dtype=vector.dtype)
        padded[: self.d] = vector
        return padded.reshape(self.windows, self.k1)

    def unpad(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """The first d positions of a matrix of windows: the inverse of `pad`."""
        return matrix.reshape(self.padded_d)[: self.d]
