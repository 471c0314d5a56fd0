"""What the result file says of a row: over all its seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from pydantic import TypeAdapter

from experiments.accuracy.rows import ROWS, SEEDS, Row
from experiments.paper.records import Record, ResultFile


@dataclass(frozen=True)
class Summary:
    """`noise` is b, or z in clips, of each seed; an epsilon is the largest of all seeds."""

    row: Row
    seeds: tuple[int, ...]
    by_round: tuple[tuple[float, ...], ...]
    finals: tuple[float, ...]
    noise: tuple[float, ...]
    smallest_clients: tuple[int, ...]
    privacy: tuple[dict[str, Any], ...]
    upload_megabytes: float

    @property
    def mean(self) -> float:
        return fmean(self.finals)

    @property
    def deviation(self) -> float:
        return stdev(self.finals) if len(self.finals) > 1 else 0.0

    @property
    def mean_by_round(self) -> list[float]:
        return [fmean(of_round) for of_round in zip(*self.by_round, strict=True)]

    def epsilon(self, unit: str) -> float | None:
        """None where nothing is promised in this unit."""
        found = [privacy.get(unit) for privacy in self.privacy]
        numbers = [epsilon for epsilon in found if isinstance(epsilon, float)]
        return max(numbers) if len(numbers) == len(found) else None


def summaries(results: ResultFile, seeds: Sequence[int] = SEEDS) -> dict[str, Summary]:
    """By the row's name; only rows that were measured on all these seeds, and only on these."""
    by_row: dict[str, list[Record]] = {}
    for record in results.records:
        if record.settings["seed"] in seeds:
            by_row.setdefault(str(record.settings["row"]), []).append(record)
    whole = {name: found for name, found in by_row.items() if len(found) == len(seeds)}
    return {row.name: _summary(row, whole[row.name]) for row in ROWS if row.name in whole}


def _summary(row: Row, records: Sequence[Record]) -> Summary:
    in_order = sorted(records, key=_seed)
    results: list[Any] = [record.result for record in in_order]
    return Summary(
        row=row,
        seeds=tuple(map(_seed, in_order)),
        by_round=tuple(tuple(result["accuracies"]) for result in results),
        finals=tuple(result["accuracy"] for result in results),
        noise=tuple(result["noise"] for result in results),
        smallest_clients=tuple(result["smallest_client"] for result in results),
        privacy=tuple(result["privacy"] for result in results),
        upload_megabytes=max(result["upload_megabytes"] for result in results),
    )


def _seed(record: Record) -> int:
    return TypeAdapter(int).validate_python(record.settings["seed"])
