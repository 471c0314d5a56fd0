"""What a client uploads: shuffled values in the clear and encrypted masks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fedperm.permutation import Permutation, shuffle
from fedperm.schemes.paillier.blinding import BlindingPool
from fedperm.schemes.paillier.masks import EncryptedMasks, MaskEncoder
from fedperm.windows import Geometry


@dataclass(frozen=True, eq=False)
class Update:
    """values: (windows, k1) integers below 2^B; masks: see `masks.EncryptedMasks`."""

    values: NDArray[Any]
    masks: EncryptedMasks


def build_update(
    coded: NDArray[Any],
    patterns: Sequence[Permutation],
    geometry: Geometry,
    encoder: MaskEncoder,
    pool: BlindingPool,
) -> Update:
    """Shuffles already noised and coded windows and encrypts the masks that undo it."""
    return Update(shuffle(coded, patterns, geometry), encoder.encrypt(patterns, pool))
