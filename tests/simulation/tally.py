"""What a simulation did, as figures."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Faults are counted when they have taken effect, not when they were wanted. `moments` are
    crash points that were passed, `ends` those at which a party was ended."""

    sequences: int = 0
    operations: int = 0
    requests: int = 0
    steps: int = 0
    ticks: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)

    def as_json(self) -> dict[str, Any]:
        return {
            name: dict(sorted(value.items())) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
        }
