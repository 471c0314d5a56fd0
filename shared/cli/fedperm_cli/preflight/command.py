"""`fedperm preflight`: options in, findings out, exit code 1 if one of them is bad."""

import asyncio
import json
from dataclasses import asdict

import typer

from fedperm.clock import SystemClock
from fedperm.randomness import from_operating_system
from fedperm_cli.exit_codes import ExitCode
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.preflight.findings import Finding, State
from fedperm_cli.preflight.options import PreflightOptions
from fedperm_cli.preflight.pages import print_findings


@with_option_groups
def preflight(*, options: PreflightOptions, output: Output) -> None:
    """Look for what would go wrong in a run: servers, clocks, keys, room, a dry round.

    Says how to mend what it finds; exit code 1 if a check failed, or if the named run or key cannot
    be looked at. Changes nothing anywhere. Only a run needs a token, its operator's: its key is
    then compared at both servers.
    """
    as_json = output.is_json()
    options.check()
    findings = asyncio.run(_look(options))
    is_well = all(finding.state is not State.FAILED for finding in findings)
    if as_json:
        print_json(json.dumps({"well": is_well, "findings": [asdict(f) for f in findings]}))
    else:
        print_findings(findings)
    if not is_well:
        raise typer.Exit(ExitCode.FAILED)


async def _look(options: PreflightOptions) -> list[Finding]:
    from fedperm_cli.preflight.preflight import Preflight  # noqa: PLC0415 (numpy and keys: slow)

    return await Preflight(options, SystemClock(), from_operating_system()).findings()
