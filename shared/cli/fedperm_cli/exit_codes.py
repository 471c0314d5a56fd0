"""What the shell is told: one number for each kind of end, the same in every command."""

from enum import IntEnum

from fedperm.errors import FedPermError, RefusedError, UnreachableError, UntrustedError
from fedperm_cli.errors import FederationError


class ExitCode(IntEnum):
    SUCCESS = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    UNREACHABLE = 4
    INTERRUPTED = 130
    """128 + SIGINT, as shells have it; typer sets it."""


EPILOG = (
    "Exit codes: 0 success, 1 a check failed or the run failed, 2 wrong usage or parameters, "
    "3 a server refused, 4 a server did not answer, 130 interrupted."
)


def exit_code_of(error: FedPermError) -> ExitCode:
    match error:
        case RefusedError():
            return ExitCode.REFUSED
        case UnreachableError():
            return ExitCode.UNREACHABLE
        case UntrustedError() | FederationError():
            return ExitCode.FAILED
        case _:
            return ExitCode.USAGE
