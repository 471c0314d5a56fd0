"""What a run is at, in words and numbers."""

from dataclasses import dataclass

from fedperm.wire.aggregator import RoundReport, RoundState, RunState, RunStatus, SubmissionState
from fedperm_aggregator.dashboard.views import Progress


@dataclass(frozen=True)
class Fold:
    """How far the fold of a round was when it was last heard of."""

    round: int
    phase: str
    done: int
    total: int


def progress(status: RunStatus, newest: RoundReport | None, fold: Fold | None) -> Progress:
    if status.state.is_over or newest is None:
        return _of_run(status)
    match newest.outcome.state:
        case RoundState.OPEN:
            return _collecting(newest)
        case RoundState.SEALED:
            return _adding_up(newest, fold)
        case _ if status.state is RunState.RUNNING:
            return _settled(newest)
    return _of_run(status)


def _of_run(status: RunStatus) -> Progress:
    words = {
        RunState.WAITING: "Waiting",
        RunState.RUNNING: "About to open a round",
        RunState.STOPPED: "Stopped",
        RunState.COMPLETED: "Completed",
        RunState.FAILED: "The run failed",
    }[status.state]
    reason = f": {status.reason}" if status.reason else ""
    return Progress(name=status.state.value, words=words + reason, done=0, total=0)


def _collecting(newest: RoundReport) -> Progress:
    asked, received = len(newest.outcome.selected), len(newest.updates)
    checked = sum(update.state is not SubmissionState.STORED for update in newest.updates)
    words = f"Collecting updates: {received} of {asked} received, {checked} checked"
    return Progress(name="collecting", words=words, done=checked, total=asked)


def _adding_up(newest: RoundReport, fold: Fold | None) -> Progress:
    members = sum(update.state is SubmissionState.VALID for update in newest.updates)
    words = f"Adding up {members} encrypted updates"
    if fold is None or fold.round != newest.outcome.round:
        return Progress(name="adding up", words=words, done=0, total=0)
    if fold.phase == "rerandomise":
        words = "Re-randomising the encrypted sum"
    return Progress(name="adding up", words=words, done=fold.done, total=fold.total)


def _settled(newest: RoundReport) -> Progress:
    number = newest.outcome.round
    if newest.outcome.state is RoundState.ABORTED:
        words = f"Round {number} was aborted: {newest.outcome.reason}"
    else:
        words = f"Round {number} is published; clients decrypt it"
    return Progress(name=newest.outcome.state.value, words=words, done=1, total=1)
