"""What one round cost this client: seconds by phase, and octets."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from fedperm.wire.aggregator import ClientSeconds

Part = Literal["train", "randomize", "encrypt", "upload", "decrypt"]


class Measurements:
    """Of the round under way; after a restart only of what was done since."""

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
        return ClientSeconds(**self._seconds)
