"""How a run ended, as far as a client can tell: the aggregator's word, checked."""

from enum import StrEnum

from fedperm.ids import RoundNumber
from fedperm.wire.aggregator import RunState


class Ending(StrEnum):
    """ENDED_EARLY: the aggregator says that there is nothing more to do, and neither did the run
    fail, nor was it stopped, nor did this client settle every round of its document."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"
    ENDED_EARLY = "ended early"


_BELIEVED = {RunState.STOPPED: Ending.STOPPED, RunState.FAILED: Ending.FAILED}
"""Whoever lies with these claims less than there was."""


def ending_of(told: RunState, settled: RoundNumber, count: int) -> Ending:
    """A completed run has settled as many rounds as its document says, aborted ones included."""
    if told is RunState.COMPLETED and settled == count:
        return Ending.COMPLETED
    return _BELIEVED.get(told, Ending.ENDED_EARLY)
