"""What an attack came to: requests by server, operation, role and status, and every breach."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.attack import Target
from tests.hostile.exchange import Exchange
from tests.hostile.laws import Breach

SHOWN = 5
"""Breaches of one kind that are shown in full."""


@dataclass
class Tally:
    operations: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    """Answers below 400 by operation."""
    roles: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    breaches: dict[Breach, list[str]] = field(default_factory=lambda: {kind: [] for kind in Breach})

    @property
    def requests(self) -> int:
        return self.statuses.total()

    @property
    def is_clean(self) -> bool:
        return not any(self.breaches.values())

    def add(self, target: Target, exchange: Exchange, breaches: list[tuple[Breach, str]]) -> None:
        status = exchange.response.status_code
        self.operations[str(target)] += 1
        self.reached[str(target)] += status < 400
        self.roles[exchange.shot.role.value] += 1
        self.statuses[status] += 1
        for kind, why in breaches:
            self.breaches[kind].append(f"{target}: {why}\n    {exchange}")

    def lines(self) -> Iterator[str]:
        yield f"{self.requests:,} requests, {len(self.operations)} operations of both servers"
        for role, count in self.roles.most_common():
            yield f"  {count:7,} as {role}"
        shown = ", ".join(f"{status} {count:,}" for status, count in sorted(self.statuses.items()))
        yield f"answers: {shown}"
        never = [name for name in self.operations if not self.reached[name]]
        yield f"operations that never answered below 400: {', '.join(never) or 'none'}"
        for kind, found in self.breaches.items():
            yield f"{kind.value}: {len(found)}"
            yield from found[:SHOWN]

    def to_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "operations": dict(self.operations),
            "reached": dict(self.reached),
            "roles": dict(self.roles),
            "statuses": dict(sorted(self.statuses.items())),
            "breaches": {kind.value: found for kind, found in self.breaches.items()},
        }
