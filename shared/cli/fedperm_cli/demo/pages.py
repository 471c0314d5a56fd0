"""The end of a demo for people: what was learned, what it cost, and where it lies."""

from collections.abc import Iterator, Sequence
from statistics import mean

from rich.table import Table
from rich.text import Text

from fedperm_cli.demo.options import NAME
from fedperm_cli.demo.outcome import Outcome
from fedperm_cli.measures import as_bytes, as_seconds
from fedperm_cli.pages import facts, heading, indented, listing, show
from fedperm_cli.run.created_pages import privacy_text
from fedperm_cli.run.pages import accuracy_words
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


def print_outcome(outcome: Outcome) -> None:
    show(
        heading("Accuracy on public test data, by round"),
        *map(indented, _accuracies(outcome.rounds)),
        heading("Time by phase"),
        _times(outcome.rounds),
        heading("Bytes moved"),
        _bytes(outcome),
        "",
        privacy_text(outcome.report),
        heading("Where it lies"),
        _places(outcome),
        "",
        _verdict(outcome),
    )


def _accuracies(rounds: Sequence[RoundSummary]) -> Iterator[str]:
    for start in range(0, len(rounds), _ROUNDS_IN_A_LINE):
        line = rounds[start : start + _ROUNDS_IN_A_LINE]
        words = "  ".join(f"{accuracy_words(summary):>6}" for summary in line)
        yield f"{line[0].round:3} to {line[-1].round:3}  {words}"


def _times(rounds: Sequence[RoundSummary]) -> Table:
    table = listing("phase", "a round", "all rounds", right=("a round", "all rounds"))
    for phase, words in _PHASES.items():
        seconds = [getattr(summary.seconds, phase) for summary in rounds]
        table.add_row(f"  {words}", as_seconds(mean(seconds)), as_seconds(sum(seconds)))
    return table


def _bytes(outcome: Outcome) -> Table:
    clients, rounds = len(outcome.clients), outcome.rounds
    up, down = (sum(r.bytes_up for r in rounds), sum(r.bytes_down for r in rounds))
    each = clients * len(rounds)
    return facts(
        ("  up", f"{as_bytes(up)}, {as_bytes(up / each)} a client and round"),
        ("  down", f"{as_bytes(down)}, {as_bytes(down / each)} a client and round"),
    )


def _places(outcome: Outcome) -> Table:
    return facts(
        ("  models", f"{outcome.folder}/client-*/runs/{NAME}/model.safetensors"),
        ("  logs", f"{outcome.logs}/*.log"),
        ("  everything", f"{outcome.folder} (with secrets of this demo: remove it when done)"),
    )


def _verdict(outcome: Outcome) -> Text:
    clients = len(outcome.clients)
    if outcome.succeeded:
        words = (
            f"identical: yes, all {clients} clients hold the same {outcome.parameters:,} "
            f"parameters, bit by bit; {as_seconds(outcome.seconds)} in all"
        )
        return Text(words, style="bold green")
    return Text(_complaint(outcome), style="bold red")


def _complaint(outcome: Outcome) -> str:
    if not outcome.identical:
        held = ", ".join(
            f"{client.client} after round {client.settled}: {client.parameters_sha256[:12]}"
            for client in outcome.clients
        )
        return f"identical: NO, clients hold different parameters ({held})"
    if not outcome.agreed:
        return "identical: yes, but clients reported different accuracies for one model"
    return f"the run {outcome.state}: {outcome.reason}"
