"""Sees every upload's bytes on the wire, and every answer: it needs nobody's word."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from tests.chaos.faults import Fault, FaultKind, RequestLine

_UPLOAD = re.compile(r"/v1/runs/[^/]+/rounds/(\d+)/updates/([^/?]+)")


@dataclass(frozen=True)
class Slot:
    """Where one upload belongs."""

    client: str
    round: int


class UploadWitness:
    def __init__(self) -> None:
        self.faults: Counter[FaultKind] = Counter()
        self.acknowledged: set[Slot] = set()
        self.requests = 0
        self._bodies: defaultdict[Slot, list[bytes]] = defaultdict(list)

    def sent(self, request: RequestLine, body: bytes) -> None:
        self.requests += 1
        slot = slot_of(request)
        if slot is not None:
            self._bodies[slot] = _distinct([*self._bodies[slot], body])

    def answered(self, request: RequestLine, status: int) -> None:
        slot = slot_of(request)
        if slot is not None and 200 <= status < 300:
            self.acknowledged.add(slot)

    def met(self, fault: Fault) -> None:
        self.faults[fault.kind] += 1

    @property
    def second_releases(self) -> list[Slot]:
        """Slots for which two bodies left of which neither is the beginning of the other."""
        return [slot for slot, bodies in self._bodies.items() if len(bodies) > 1]

    @property
    def slots(self) -> set[Slot]:
        """For which anything left."""
        return {slot for slot, bodies in self._bodies.items() if any(bodies)}


def slot_of(request: RequestLine) -> Slot | None:
    found = _UPLOAD.fullmatch(request.path)
    if found is None or request.method != "PUT":
        return None
    return Slot(found[2], int(found[1]))


def _distinct(bodies: list[bytes]) -> list[bytes]:
    """Without those that are the beginning of another."""
    longest_first = sorted(set(bodies), key=len, reverse=True)
    kept: list[bytes] = []
    for body in longest_first:
        if not any(other.startswith(body) for other in kept):
            kept.append(body)
    return kept
