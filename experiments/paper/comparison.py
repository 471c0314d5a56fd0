"""Whether accuracies come out again as they did."""

from dataclasses import dataclass

from experiments.paper.records import Record, ResultFile


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
    differences = [
        (abs(_accuracy(record) - _accuracy(before[record.name])), record.name)
        for record in again.records
        if record.name in before and before[record.name].settings == record.settings
    ]
    if not differences:
        return None
    equal = sum(difference == 0 for difference, _ in differences)
    return Comparison(len(differences), equal, *max(differences))


def _accuracy(record: Record) -> float:
    return float(str(record.result["accuracy"]))
