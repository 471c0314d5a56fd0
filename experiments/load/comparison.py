"""Is the aggregator's memory independent of the number of clients?"""

from experiments.load.report import LoadReport

TOLERANCE = 0.2


def memory_ratio(fewer: LoadReport, more: LoadReport) -> float:
    return more.aggregator.peak_memory_bytes / fewer.aggregator.peak_memory_bytes


def is_independent(ratio: float) -> bool:
    return abs(ratio - 1) <= TOLERANCE
