"""What a run of chaos has shown, for people and for the record."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.chaos.verdict import Verdict

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Report:
    """What was not looked at is None: a federation that gave up is not judged."""

    seed: int
    seconds: float
    kills: Mapping[str, int]
    faults: Mapping[str, int]
    requests: int
    uploads_acknowledged: int
    rounds_published: int | None = None
    rounds_aborted: int | None = None
    verdict: Verdict | None = None
    gave_up: str = ""

    @property
    def is_clean(self) -> bool:
        return self.verdict is not None and self.verdict.is_clean and not self.gave_up

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    def lines(self) -> Iterator[str]:
        yield f"kills            {_counted(self.kills)}"
        yield f"network faults   {_counted(self.faults)}, in {self.requests} requests"
        yield f"rounds           {self._rounds()}"
        yield f"acknowledged     {self.uploads_acknowledged} uploads"
        for name in ("lost", "double", "second_releases", "split"):
            yield f"{name.replace('_', ' '):<16} {self._found(name)}"
        yield f"gave up          {self.gave_up or 0}"
        yield f"seed {self.seed}, {self.seconds:.0f} s"

    def _rounds(self) -> str:
        if self.rounds_published is None:
            return NOT_JUDGED
        return f"{self.rounds_published} published, {self.rounds_aborted} aborted"

    def _found(self, name: str) -> str:
        return NOT_JUDGED if self.verdict is None else _listed(getattr(self.verdict, name))


def _counted(counts: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"{sum(counts.values())} ({listed})"


def _listed(wrong: tuple[str, ...]) -> str:
    return "; ".join((str(len(wrong)), *wrong))
