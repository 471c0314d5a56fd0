"""Findings for people."""

from collections.abc import Sequence

from rich.text import Text

from fedperm_cli.measures import counted
from fedperm_cli.pages import listing, show
from fedperm_cli.preflight.findings import Finding, State

_STYLES = {
    State.GOOD: "green",
    State.WARNING: "yellow",
    State.FAILED: "bold red",
    State.SKIPPED: "dim",
}


def print_findings(findings: Sequence[Finding]) -> None:
    table = listing("check", "", "what was found")
    for finding in findings:
        state = Text(finding.state, style=_STYLES[finding.state])
        table.add_row(finding.check, state, Text(finding.words))
        if finding.hint:
            table.add_row("", "", Text(f"-> {finding.hint}"))
    show(table, "", _verdict(findings))


def _verdict(findings: Sequence[Finding]) -> Text:
    bad = sum(finding.state is State.FAILED for finding in findings)
    left_out = sum(finding.state is State.SKIPPED for finding in findings)
    if bad:
        return Text(f"{bad} of {len(findings)} checks failed", style="bold red")
    made = len(findings) - left_out
    warnings = sum(finding.state is State.WARNING for finding in findings)
    but = f", but for {counted(warnings, 'warning')}" if warnings else ""
    return Text(f"all is well, as far as {made} checks can tell{but}", style="bold green")
