"""The end of a demo for people: what was learned, what it cost, and where it lies."""

from rich.table import Table
from rich.text import Text

from fedperm_cli.demo.options import RUN
from fedperm_cli.demo.outcome import Outcome
from fedperm_cli.measures import as_seconds
from fedperm_cli.pages import facts, heading, show
from fedperm_cli.run.summary_pages import summary_of


def print_outcome(outcome: Outcome) -> None:
    show(
        *summary_of(outcome),
        heading("Where it lies"),
        _places(outcome),
        "",
        _verdict(outcome),
    )


def _places(outcome: Outcome) -> Table:
    return facts(
        ("  models", f"{outcome.folder}/client-*/runs/{RUN}/model.safetensors"),
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
    return outcome.verdict
