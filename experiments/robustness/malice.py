"""What malicious clients of FedPerm upload. They share what they know and follow no rule."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.robustness.reach import Room, longest
from experiments.robustness.server import Upload, middle
from experiments.robustness.setting import Attack
from fedperm.normalisation import CENTRE
from fedperm.run_document import RunDocument
from fedperm.wire.model import Parameters
from fedperm_client.preparation import Preparation

_QUIET = Room(norm=0.9, value=0.5)
"""Of what clients let an average hold: the honest clients' noise needs the rest."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """`own` is how an attacker's training moved the model (on poisoned data where the attack is
    about data), `shared` the mean over all attackers, which are `attackers` of `clients`."""

    own: Parameters
    shared: Parameters
    attackers: int
    clients: int


@dataclass(frozen=True)
class Attacker:
    document: RunDocument
    preparation: Preparation

    def upload(self, attack: Attack, known: Knowledge) -> Upload:
        own, shared = known.own, known.shared
        made: dict[Attack, Callable[[], Upload]] = {
            Attack.SILENT: lambda: self._honestly(np.zeros_like(own)),
            Attack.FLIP: lambda: self._honestly(-own),
            Attack.FLIP_10: lambda: self._flipped(own, 10),
            Attack.FLIP_100: lambda: self._flipped(own, 100),
            Attack.LABELS: lambda: self._honestly(own),
            Attack.NOISE: self._extremes,
            Attack.BACKDOOR: lambda: self._honestly(own),
            Attack.BOOSTED: lambda: self._as_far_as_it_goes(shared),
            Attack.UNNOISED: lambda: self._as_far_as_it_goes(-shared),
            Attack.ARRANGED: lambda: self._arranged(shared),
            Attack.MASKS_10: lambda: self._past_the_bound(known, 10),
            Attack.MASKS_1000: lambda: self._in_single_units(known, 1000),
        }
        return made[attack]()

    def _honestly(self, movement: Parameters) -> Upload:
        """Clipped and noised as by the rules."""
        return Upload(self.preparation.randomize(movement))

    def _flipped(self, movement: Parameters, times: int) -> Upload:
        """Noised as by the rules, but multiplied after the clip."""
        clip = self.document.noise.clip
        return self._moved(-times * np.clip(movement, -clip, clip) / (2 * clip))

    def _as_far_as_it_goes(self, direction: Parameters) -> Upload:
        """Without noise, as long as the bound lets it be."""
        return self._coded(longest(direction, self.document))

    def _arranged(self, shared: Parameters) -> Upload:
        """The noise of an honest client: the largest where it does most harm, all with the sign
        that does."""
        coded = self.preparation.randomize(np.zeros_like(shared))
        fixed_point = self.document.plan.fixed_point
        noise = np.abs(fixed_point.decode_mean(coded, 1) - CENTRE).reshape(-1)
        largest_first = np.sort(noise)[::-1][: shared.size]
        displacement = np.empty_like(shared)
        displacement[np.argsort(-np.abs(shared), kind="stable")] = largest_first
        return self._coded(-np.sign(shared) * displacement)

    def _past_the_bound(self, known: Knowledge, factor: int) -> Upload:
        """So long that the average of all just passes the clients' own check."""
        pulled = known.attackers * factor / known.clients
        room = Room(_QUIET.norm / pulled, _QUIET.value / pulled)
        displacement = longest(-known.shared, self.document, room)
        return replace(self._coded(displacement), factor=factor)

    def _in_single_units(self, known: Knowledge, factor: int) -> Upload:
        """The same where the smallest change is already large: one unit, in as many coordinates as
        the check lets pass, those first that hurt most."""
        plan, shared = self.document.plan, known.shared
        pull = known.attackers * factor / known.clients * plan.fixed_point.step
        chosen = np.argsort(-np.abs(shared), kind="stable")[: self._coordinates_of(pull)]
        units = np.zeros(plan.geometry.d)
        units[chosen] = -np.sign(shared[chosen])
        values = middle(self.document) + plan.geometry.pad(units, 0.0)
        return Upload(values.astype(plan.fixed_point.dtype), factor)

    def _coordinates_of(self, pull: float) -> int:
        """How many may be moved so far in the average."""
        bound, d = self.document.bound, self.document.plan.geometry.d
        return d if bound is None else min(d, int((_QUIET.norm * bound.limit / pull) ** 2))

    def _extremes(self) -> Upload:
        """0 or the largest integer, by coin flips."""
        geometry, fixed_point = self.document.plan.geometry, self.document.plan.fixed_point
        octets = self.preparation.randomness.randbytes(geometry.padded_d)
        heads = np.frombuffer(octets, np.uint8).reshape(geometry.windows, geometry.k1) < 128
        return Upload((heads * fixed_point.top).astype(fixed_point.dtype))

    def _moved(self, displacement: Parameters) -> Upload:
        """An honest upload of nothing, moved."""
        plan = self.document.plan
        noise = self.preparation.randomize(np.zeros_like(displacement)).astype(np.float64)
        moved = noise + plan.geometry.pad(displacement, 0.0) / plan.fixed_point.step
        return Upload(_integers(moved, plan.fixed_point.top, plan.fixed_point.dtype))

    def _coded(self, displacement: Parameters) -> Upload:
        """Without noise."""
        plan = self.document.plan
        windows = plan.geometry.pad(CENTRE + displacement, CENTRE)
        return Upload(plan.fixed_point.encode(windows, self.preparation.randomness))


def _integers(values: NDArray[np.float64], top: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.clip(np.rint(values), 0, top).astype(dtype)
