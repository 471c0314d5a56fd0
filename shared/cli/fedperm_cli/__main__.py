"""The command `fedperm`: errors become a message, a hint and an exit code here."""

import sys

from rich.console import Console

from fedperm.errors import FedPermError
from fedperm_cli.application import application
from fedperm_cli.exit_codes import exit_code_of


def main() -> None:
    try:
        application()
    except FedPermError as error:
        stderr = Console(stderr=True, highlight=False, soft_wrap=True)
        stderr.print("error:", error.message, style="red", markup=False)
        stderr.print("hint:", error.hint, markup=False)
        sys.exit(exit_code_of(error))


if __name__ == "__main__":
    main()
