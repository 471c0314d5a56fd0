"""What a run of chaos has shown, for people and for the record."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.chaos.verdict import Verdict


@dataclass(frozen=True)
class Report:
    seed: int
    seconds: float
    kills: Mapping[str, int]
    faults: Mapping[str, int]
    requests: int
    rounds_published: int
    rounds_aborted: int
    uploads_acknowledged: int
    verdict: Verdict
    gave_up: str = ""

    @property
    def is_clean(self) -> bool:
        return self.verdict.is_clean and not self.gave_up

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def lines(self) -> Iterator[str]:
        verdict = self.verdict
        yield f"kills            {_counted(self.kills)}"
        yield f"network faults   {_counted(self.faults)}, in {self.requests} requests"
        yield f"rounds           {self.rounds_published} published, {self.rounds_aborted} aborted"
        yield f"acknowledged     {self.uploads_acknowledged} uploads"
        yield f"lost             {_listed(verdict.lost)}"
        yield f"double           {_listed(verdict.double)}"
        yield f"second releases  {_listed(verdict.second_releases)}"
        yield f"split            {_listed(verdict.split)}"
        yield f"gave up          {self.gave_up or 0}"
        yield f"seed {self.seed}, {self.seconds:.0f} s"


def _counted(counts: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"{sum(counts.values())} ({listed})"


def _listed(wrong: tuple[str, ...]) -> str:
    return "; ".join((str(len(wrong)), *wrong))
