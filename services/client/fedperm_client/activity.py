"""What the client is doing in the round under way, and what that has cost so far."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from fedperm.ids import NO_ROUND, RoundNumber
from fedperm.wire.aggregator import ClientSeconds, Heartbeat, Phase

Part = Literal["train", "randomize", "encrypt", "upload", "decrypt"]


@dataclass
class Activity:
    """The heartbeat tells it, apart from the work."""

    phase: Phase = Phase.IDLE
    round: RoundNumber = NO_ROUND

    @contextmanager
    def during(self, phase: Phase, number: RoundNumber) -> Iterator[None]:
        self.phase, self.round = phase, number
        try:
            yield
        finally:
            self.phase = Phase.IDLE

    @property
    def heartbeat(self) -> Heartbeat:
        return Heartbeat(phase=self.phase, round=self.round)


class Measurements:
    """Seconds by part and octets, of one round; after a restart only of what was done since."""

    def __init__(self) -> None:
        self.bytes_up = 0
        self.bytes_down = 0
        self._seconds: dict[Part, float] = {
            "train": 0.0,
            "randomize": 0.0,
            "encrypt": 0.0,
            "upload": 0.0,
            "decrypt": 0.0,
        }

    @contextmanager
    def timing(self, part: Part) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] += time.perf_counter() - start

    @property
    def seconds(self) -> ClientSeconds:
        return ClientSeconds(**{part: round(took, 3) for part, took in self._seconds.items()})
