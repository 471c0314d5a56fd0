"""The end of a run for people: what was learned, and what it cost in time, bytes and privacy."""

from collections.abc import Callable, Iterator, Sequence
from statistics import mean

from rich.console import RenderableType
from rich.table import Table

from fedperm_cli.measures import as_bytes, as_seconds
from fedperm_cli.pages import facts, heading, indented, listing
from fedperm_cli.run.created_pages import privacy_text
from fedperm_cli.run.outcome import RunOutcome
from fedperm_cli.run.pages import accuracy_words, loss_words, reading_notes
from fedperm_cli.run.round_summary import RoundSummary

_ROUNDS_IN_A_LINE = 10

_PHASES = {
    "train": "a client trains",
    "randomize": "adds noise and shuffles",
    "encrypt": "encrypts its masks",
    "upload": "uploads",
    "open": "the aggregator waits for all of them",
    "fold": "multiplies and adds, encrypted",
    "decrypt": "a client decrypts and applies",
}


def summary_of(outcome: RunOutcome) -> Iterator[RenderableType]:
    """Parts to be shown one below the other: accuracies of tasks that have test data, or losses
    where there are no classes; times and bytes of rounds of which somebody reported."""
    told = [summary for summary in outcome.rounds if summary.reports]
    if any(summary.accuracies for summary in told):
        yield heading("Accuracy on public test data, by round")
        yield from map(indented, _by_round(outcome.rounds, accuracy_words))
    elif any(summary.loss is not None for summary in told):
        yield heading("Loss on public test data, by round")
        yield from map(indented, _by_round(outcome.rounds, loss_words))
    if told:
        yield heading("Time by phase")
        yield _times(told)
        yield heading("Bytes moved")
        yield _bytes(told)
    yield ""
    yield privacy_text(outcome.report)
    for note in reading_notes(outcome.rounds):
        yield ""
        yield note


def _by_round(
    rounds: Sequence[RoundSummary], words_of: Callable[[RoundSummary], str]
) -> Iterator[str]:
    for start in range(0, len(rounds), _ROUNDS_IN_A_LINE):
        line = rounds[start : start + _ROUNDS_IN_A_LINE]
        words = "  ".join(f"{words_of(summary):>6}" for summary in line)
        yield f"{line[0].round:3} to {line[-1].round:3}  {words}"


def _times(rounds: Sequence[RoundSummary]) -> Table:
    table = listing("phase", "a round", "all rounds", right=("a round", "all rounds"))
    for phase, words in _PHASES.items():
        seconds = [getattr(summary.seconds, phase) for summary in rounds]
        table.add_row(f"  {words}", as_seconds(mean(seconds)), as_seconds(sum(seconds)))
    return table


def _bytes(rounds: Sequence[RoundSummary]) -> Table:
    up, down = (sum(r.bytes_up for r in rounds), sum(r.bytes_down for r in rounds))
    each = sum(r.reports for r in rounds)
    return facts(
        ("  up", f"{as_bytes(up)}, {as_bytes(up / each)} a client and round"),
        ("  down", f"{as_bytes(down)}, {as_bytes(down / each)} a client and round"),
    )
