"""What the client is doing now; the heartbeat tells it, apart from the work."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fedperm.wire.aggregator import Heartbeat, Phase


@dataclass
class Activity:
    phase: Phase = Phase.IDLE
    round: int = 0

    @contextmanager
    def during(self, phase: Phase, number: int) -> Iterator[None]:
        self.phase, self.round = phase, number
        try:
            yield
        finally:
            self.phase = Phase.IDLE

    @property
    def heartbeat(self) -> Heartbeat:
        return Heartbeat(phase=self.phase, round=self.round)
