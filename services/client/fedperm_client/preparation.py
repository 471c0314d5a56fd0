"""From the movement of local training to the bytes of an upload (Algorithm 1, lines 6 to 13)."""

from dataclasses import dataclass
from random import Random
from typing import Any

from numpy.typing import NDArray

from fedperm.noise.law import NoiseSampler
from fedperm.planner import Plan
from fedperm.randomizer import Randomizer
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters
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
        """The upload as it travels."""
        terms = key.terms
        arrays = terms.form.prepare(coded, self.plan, key.encoder, self.randomness)
        return terms.body.encode(arrays)
