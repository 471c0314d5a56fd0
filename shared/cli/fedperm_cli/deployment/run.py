"""`fedperm deployment run`: options in, a whole run watched, summary out."""

import asyncio
import json
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from fedperm.clock import SystemClock
from fedperm_cli.deployment.options import (
    OperationOptions,
    check_operation,
    refuse_unknown_variables,
)
from fedperm_cli.exit_codes import ExitCode
from fedperm_cli.federation.interruption import all_ends_alike
from fedperm_cli.operator.identity import OperatorIdentity
from fedperm_cli.operator.options import OperatorKeyFile
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json, show, stdout
from fedperm_cli.progress_lines import Teller, tell_nothing, tell_on
from fedperm_cli.run.views import Silence, live_view
from fedperm_cli.run.watching import View
from fedperm_cli.servers.options import AsKeyOperator, AsRunOperator

if TYPE_CHECKING:
    from fedperm_cli.run.outcome import RunOutcome


@with_option_groups
def run(
    context: typer.Context,
    *,
    options: OperationOptions,
    key_access: AsKeyOperator,
    run_access: AsRunOperator,
    key_file: OperatorKeyFile,
    output: Output,
) -> None:
    """Make key, enrolment token and run where they are missing; watch; print the summary.

    Plays both operators, as containers on one machine do. The same again goes on watching the same
    run. Exit code 0 if and only if the run completed. An option ROUNDS is also the variable
    FEDPERM_OPERATOR_ROUNDS, and so on; a blank variable means the default.
    """
    as_json = output.is_json()
    refuse_unknown_variables(context)
    check_operation(options)
    identity = key_file.identity()
    with all_ends_alike():
        if as_json:
            outcome = _operate(options, key_access, run_access, identity, Silence(), tell_nothing)
            print_json(json.dumps({"run": options.run, **outcome.members()}))
        else:
            with live_view(console := stdout()) as view:
                outcome = _operate(
                    options, key_access, run_access, identity, view, tell_on(console)
                )
            _print(outcome)
    if not outcome.completed:
        raise typer.Exit(ExitCode.FAILED)


def _operate(
    options: OperationOptions,
    key_access: AsKeyOperator,
    run_access: AsRunOperator,
    identity: OperatorIdentity,
    view: View,
    tell: Teller,
) -> "RunOutcome":
    from fedperm_cli.deployment.operation import Operation  # noqa: PLC0415 (scipy takes a second)

    operation = Operation(options, SystemClock(), tell)
    return asyncio.run(operation.run(key_access, run_access, identity, view))


def _print(outcome: "RunOutcome") -> None:
    from fedperm_cli.run.summary_pages import summary_of  # noqa: PLC0415 (scipy takes a second)

    style = "bold green" if outcome.completed else "bold red"
    show(*summary_of(outcome), "", Text(outcome.verdict, style=style))
