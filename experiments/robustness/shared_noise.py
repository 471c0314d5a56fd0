"""One draw of noise for all cases of a round: they differ by what attackers do, not by luck.

Drawing takes longer than all else that a client does, so this also saves most of the time.
"""

from random import Random

import numpy as np
from numpy.typing import NDArray

from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.privacy.release import noise_of
from fedperm.run_document import RunDocument
from fedperm_client.preparation import Preparation


class RewoundRandom(Random):
    """Gives the same octets again after `rewind`, until the next round."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._given: dict[tuple[int, int], bytes] = {}
        self._position = 0

    def rewind(self) -> None:
        self._position = 0

    def forget(self) -> None:
        self._given.clear()
        self.rewind()

    def randbytes(self, n: int) -> bytes:
        place = (self._position, n)
        self._position += 1
        if place not in self._given:
            self._given[place] = super().randbytes(n)
        return self._given[place]


class NoiseOfTheRound:
    """A client's noise, drawn once a round."""

    def __init__(self, sampler: NoiseSampler, randomness: Random) -> None:
        self._sampler = sampler
        self._randomness = randomness
        self._drawn: NDArray[np.int64] | None = None

    @property
    def law(self) -> GridLaplace:
        return self._sampler.law

    @property
    def name(self) -> str:
        return self._sampler.name

    @property
    def eta(self) -> float:
        return self._sampler.eta

    def forget(self) -> None:
        self._drawn = None

    def draw(self, count: int, _randomness: Random, /) -> NDArray[np.int64]:
        if self._drawn is None:
            self._drawn = self._sampler.draw(count, self._randomness)
        return self._drawn


class Noisemaker:
    """One client's preparation, for all cases alike."""

    def __init__(self, document: RunDocument, seed: str) -> None:
        sampler = noise_of(document)
        if sampler is None:
            raise ValueError("FedPerm without noise hides nobody")
        self._noise = NoiseOfTheRound(sampler, Random(f"noise {seed}"))
        self._rounding = RewoundRandom(f"rounding {seed}")
        self._preparation = Preparation.of(document, self._noise, self._rounding)

    def next_round(self) -> None:
        self._noise.forget()
        self._rounding.forget()

    def preparation(self) -> Preparation:
        """For one case, once a round."""
        self._rounding.rewind()
        return self._preparation
