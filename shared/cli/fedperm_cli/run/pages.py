"""Runs, clients and rounds for people."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from fedperm.wire.aggregator import ParticipantStatus, RunList, RunState, RunStatus
from fedperm_cli.measures import UNKNOWN, as_bytes, as_seconds, as_share, as_time, counted
from fedperm_cli.operator.reports import NO_KEYS
from fedperm_cli.pages import facts, heading, listing, show, warning_lines
from fedperm_cli.run.overview import Overview
from fedperm_cli.run.round_summary import RoundSummary, summarise

_NUMBERS = ("clients", "in sum", "bounded", "accuracy", "loss", "train", "encrypt", "upload",
            "fold", "decrypt", "total", "up", "down")  # fmt: skip


def print_status(status: RunStatus) -> None:
    show(facts(*_status_rows(status)))


def print_runs(found: RunList) -> None:
    table = listing("run", "state", "round", "epoch", "clients", "made", right=("epoch", "clients"))
    for run in found.runs:
        table.add_row(
            run.run,
            "ended early" if ended_early(run) else run.state.value,
            f"{run.round} of {run.rounds}",
            str(run.epoch),
            str(run.participants),
            as_time(run.created_at),
        )
    show(table if found.runs else "no runs yet: fedperm run create NAME")


def print_overview(overview: Overview) -> None:
    print_status(overview.status)
    if overview.warnings:
        show("", *warning_lines(overview.warnings))
    show(heading("Clients"))
    show(_participants(overview.participants) if overview.participants else "none joined yet")
    show(heading("Rounds"))
    summaries = [summarise(report) for report in overview.rounds]
    show(rounds_table(summaries) if summaries else "none opened yet")
    show(*overview.complaints, *reading_notes(summaries))


def rounds_table(summaries: Sequence[RoundSummary]) -> Table:
    """Seconds of clients are means; bytes are sums over the clients that reported."""
    table = listing("round", "state", *_NUMBERS, right=("round", *_NUMBERS))
    for summary in summaries:
        table.add_row(*_round_cells(summary))
    return table


def _round_cells(summary: RoundSummary) -> Iterable[str]:
    seconds = summary.seconds
    return (
        str(summary.round),
        f"{summary.state}: {summary.reason}" if summary.reason else summary.state.value,
        str(summary.selected),
        str(summary.included),
        str(summary.bounded),
        accuracy_words(summary),
        loss_words(summary),
        *map(as_seconds, (seconds.train, seconds.encrypt, seconds.upload, seconds.fold)),
        as_seconds(seconds.decrypt),
        UNKNOWN if summary.total_seconds is None else as_seconds(summary.total_seconds),
        as_bytes(summary.bytes_up),
        as_bytes(summary.bytes_down),
    )


def accuracy_words(summary: RoundSummary) -> str:
    """On the task's public test data."""
    if len(summary.accuracies) > 1:
        return "clients differ"
    if not summary.accuracies and summary.sealed:
        return "sealed"
    return as_share(summary.accuracy)


def reading_notes(summaries: Sequence[RoundSummary]) -> Iterable[str]:
    """What a reader of these rounds must know of their reports."""
    sealed, in_clear = (
        sum(getattr(summary, kind) for summary in summaries) for kind in ("sealed", "in_clear")
    )
    if sealed:
        yield f"what clients measured is {NO_KEYS} ({counted(sealed, 'report')})"
    if in_clear:
        yield (
            f"{counted(in_clear, 'report')} came in the clear: row 1 does not hold against the "
            "aggregator for the clients that sent them"
        )


def loss_words(summary: RoundSummary) -> str:
    return UNKNOWN if summary.loss is None else f"{summary.loss:.3f}"


def ended_early(status: RunStatus) -> bool:
    """Completed is what the aggregator says; the rounds that it counts must be all of them."""
    return status.state is RunState.COMPLETED and status.round < status.rounds


def _state_words(status: RunStatus) -> str:
    if ended_early(status):
        return f"ended early: called completed after {status.round} of {status.rounds} rounds"
    return f"{status.state}: {status.reason}" if status.reason else status.state.value


def _status_rows(status: RunStatus) -> Iterable[tuple[str, str]]:
    return (
        ("run", status.run),
        ("state", _state_words(status)),
        ("round", f"{status.round} of {status.rounds}"),
        ("clients", str(status.participants)),
        ("key epoch", str(status.epoch)),
        ("document", status.document),
        ("made", as_time(status.created_at)),
    )


def _participants(participants: Iterable[ParticipantStatus]) -> Table:
    table = listing("client", "online", "doing", "round", "last heard of", right=("round",))
    for client in participants:
        table.add_row(
            client.client,
            "excluded" if client.excluded else "yes" if client.online else "no",
            client.phase.value,
            str(client.round),
            as_time(client.last_seen_at),
        )
    return table
