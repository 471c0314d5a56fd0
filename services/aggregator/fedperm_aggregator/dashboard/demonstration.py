"""What the aggregator can see of an update, shown with a made-up one: real ones are scrubbed. The
same code shuffles, adds noise and encrypts as in a client."""

import base64
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedperm.blinding import BlindingPool, PublicBlinding
from fedperm.fixed_point import FixedPoint
from fedperm.masks import MaskEncoder
from fedperm.noise.law import GridLaplace, NoiseSampler
from fedperm.noise.table_sampler import TableSampler
from fedperm.normalisation import CENTRE
from fedperm.paillier import PublicKey
from fedperm.permutation import Permutation, draw_patterns, shuffle
from fedperm.planner import plan
from fedperm.randomizer import Randomizer
from fedperm.run_document import RunDocument
from fedperm.windows import Geometry
from fedperm_aggregator.dashboard.views import Demonstration

SIDE = 32
GEOMETRY = Geometry(SIDE * SIDE, SIDE, 4)
"""A picture of 32 windows with 32 parameters each, shuffled by four patterns."""
_LONGEST_TABLE = 1 << 16
"""Noise that needs a longer one is not shown: the table would take seconds."""


class Demonstrations:
    def __init__(self, randomness: Random) -> None:
        self._randomness = randomness
        self._patterns = draw_patterns(GEOMETRY, _show())
        self._ciphertexts = lru_cache(16)(self._encrypted)

    def of(self, document: RunDocument, public_key: PublicKey | None) -> Demonstration:
        """The first one under a key takes about a second."""
        plain, noise = self._coded(None, 1.0), _noise(document)
        noised = None if noise is None else self._coded(noise, document.noise.clip)
        return Demonstration(
            windows=GEOMETRY.windows,
            k1=GEOMETRY.k1,
            k2=GEOMETRY.k2,
            plain=_text(plain),
            shuffled=_text(self._shuffled(plain)),
            noised=None if noised is None else _text(noised),
            noised_shuffled=None if noised is None else _text(self._shuffled(noised)),
            laplace_scale=document.noise.laplace_scale,
            mask=tuple(self._patterns[0].tolist()),
            ciphertexts=None if public_key is None else self._ciphertexts(public_key),
            ciphertext_octets=0 if public_key is None else public_key.ciphertext_bytes,
        )

    def _coded(self, noise: NoiseSampler | None, clip: float) -> NDArray[Any]:
        """In 8 bits, for a picture."""
        reach = CENTRE if noise is None else noise.law.reach
        randomizer = Randomizer(clip, GEOMETRY, FixedPoint(8, reach), noise)
        return randomizer.randomize(clip * rings(), _show())

    def _shuffled(self, coded: NDArray[Any]) -> NDArray[Any]:
        return shuffle(coded, self._patterns, GEOMETRY)

    def _encrypted(self, public_key: PublicKey) -> str:
        """The masks of the first pattern, one ciphertext a column."""
        pattern: Permutation = self._patterns[0]
        alone = plan(d=SIDE, k1=SIDE, k2=1, clients=1, key_bits=public_key.key_bits, value_bits=1)
        pool = BlindingPool(PublicBlinding(public_key), self._randomness)
        masks = MaskEncoder(public_key, alone).encrypt([pattern], pool)
        return _text(masks[0, 0])


def _show() -> Random:
    """Nobody is protected here, and the picture is to be the same every time."""
    return Random(SIDE)  # noqa: S311


def rings() -> NDArray[np.float64]:
    """Something that the eye knows again: rings around a point, between -1 and 1."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    distance = np.hypot(rows - 0.45 * SIDE, columns - 0.4 * SIDE)
    return np.asarray(np.cos(distance * 0.75), dtype=np.float64).ravel()


def _noise(document: RunDocument) -> NoiseSampler | None:
    noise = document.noise
    if noise.laplace_scale == 0:
        return None
    law = GridLaplace(noise.laplace_scale, noise.grid, document.plan.fixed_point.reach)
    return TableSampler(law) if law.limit <= _LONGEST_TABLE else None


def _text(octets: NDArray[Any]) -> str:
    return base64.b64encode(octets.astype(np.uint8).tobytes()).decode()
