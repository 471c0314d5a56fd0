"""From the movement of local training to the bytes of an upload (Algorithm 1, lines 6 to 13)."""

from dataclasses import dataclass
from random import Random
from typing import Any

from numpy.typing import NDArray

from fedperm.masks import MaskEncoder
from fedperm.noise.law import NoiseSampler
from fedperm.permutation import draw_patterns
from fedperm.planner import Plan
from fedperm.randomizer import Randomizer
from fedperm.run_document import RunDocument
from fedperm.update import build_update
from fedperm.wire.model import Parameters
from fedperm.wire.update import encode_update
from fedperm_client.epoch_keys import EpochKey


@dataclass(frozen=True)
class Preparation:
    """The patterns exist while `encrypt` runs and are nowhere kept."""

    plan: Plan
    randomizer: Randomizer
    randomness: Random

    @classmethod
    def of(
        cls, document: RunDocument, noise: NoiseSampler | None, randomness: Random
    ) -> "Preparation":
        plan = document.plan
        randomizer = Randomizer(document.noise.clip, plan.geometry, plan.fixed_point, noise)
        return cls(plan, randomizer, randomness)

    def randomize(self, movement: Parameters) -> NDArray[Any]:
        """Clipped, normalised, noised and coded windows."""
        return self.randomizer.randomize(movement, self.randomness)

    def encrypt(self, coded: NDArray[Any], key: EpochKey) -> bytes:
        """Shuffled values and the masks that undo the shuffle, as they travel."""
        patterns = draw_patterns(self.plan.geometry, self.randomness)
        encoder = MaskEncoder(key.public_key, self.plan)
        update = build_update(coded, patterns, self.plan.geometry, encoder, key.pool)
        return encode_update(update, self.plan, key.public_key)
