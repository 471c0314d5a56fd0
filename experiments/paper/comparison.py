"""Whether accuracies come out again as they did."""

from dataclasses import dataclass

from pydantic import BaseModel

from experiments.paper.records import Record, ResultFile


class _OneAccuracy(BaseModel):
    accuracy: float


class _Cases(BaseModel):
    scores: dict[str, _OneAccuracy]


@dataclass(frozen=True)
class Comparison:
    """`largest` is a difference in points of accuracy, that of `name`."""

    figures: int
    equal: int
    largest: float
    name: str

    @property
    def in_words(self) -> str:
        words = f"{self.equal} of {self.figures} accuracies are those that are committed"
        if self.equal == self.figures:
            return words
        return f"{words}; the largest difference is {self.largest:.2f} points, of {self.name}"


def compared(again: ResultFile, committed: ResultFile) -> Comparison | None:
    """Of what was measured under the same name and settings; None if nothing was."""
    before = {record.name: record for record in committed.records}
    pairs = [
        (record, before[record.name])
        for record in again.records
        if record.name in before and before[record.name].settings == record.settings
    ]
    differences = [
        (abs(found - expected), record.name)
        for record, old in pairs
        for found, expected in zip(_accuracies(record), _accuracies(old), strict=True)
    ]
    if not differences:
        return None
    equal = sum(difference == 0 for difference, _ in differences)
    return Comparison(len(differences), equal, *max(differences))


def _accuracies(record: Record) -> list[float]:
    """One, or one of each case that was played."""
    if "scores" not in record.result:
        return [_OneAccuracy.model_validate(record.result).accuracy]
    cases = _Cases.model_validate(record.result).scores
    return [cases[name].accuracy for name in sorted(cases)]
