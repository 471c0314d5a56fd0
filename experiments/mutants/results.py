"""What became of each mutant."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from experiments.mutants.mutant import Mutant
from experiments.mutants.targets import name_of


class Fate(StrEnum):
    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"


@dataclass(frozen=True)
class Result:
    """`killer` is the test that noticed, of the `asked` ones."""

    path: str
    function: str | None
    line: int
    before: str
    after: str
    fate: Fate
    killer: str
    asked: int
    seconds: float

    @classmethod
    def of(cls, mutant: Mutant, fate: Fate, killer: str, asked: int, seconds: float) -> "Result":
        return cls(
            *(mutant.path, mutant.function, mutant.line, mutant.before, mutant.after),
            *(fate, killer, asked, round(seconds, 3)),
        )

    @property
    def module(self) -> str:
        return name_of(self.path)

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def read(path: Path) -> list[Result]:
    lines = (json.loads(line) for line in path.read_text().splitlines())
    return [Result(**{**line, "fate": Fate(line["fate"])}) for line in lines]
