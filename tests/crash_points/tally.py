"""What was tried and what was found. The figures of all tests are printed at the end."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Case:
    """A crash point, and whether whoever got no answer asked again."""

    point: str
    retried: bool


@dataclass
class Tally:
    cases: set[Case] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)
    """Acknowledged, answered or paid for, and gone."""
    double: list[str] = field(default_factory=list)
    """Counted, applied or used twice."""
    second_releases: list[str] = field(default_factory=list)
    """Other noise for the same round, or a secret that left unrecorded."""

    def check(self) -> None:
        """Found nothing."""
        found = {"lost": self.lost, "double": self.double, "second": self.second_releases}
        assert not any(found.values()), json.dumps(found, indent=1)

    def add(self, other: "Tally") -> None:
        self.cases |= other.cases
        self.lost += other.lost
        self.double += other.double
        self.second_releases += other.second_releases

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "cases": [asdict(case) for case in self.cases]})

    @classmethod
    def from_json(cls, text: str) -> "Tally":
        members = json.loads(text)
        return cls(**{**members, "cases": {Case(**case) for case in members["cases"]}})

    def __str__(self) -> str:
        return (
            f"crash points: {len({case.point for case in self.cases})} points, "
            f"{len(self.cases)} cases, {len(self.lost)} lost, {len(self.double)} double, "
            f"{len(self.second_releases)} second releases"
        )
