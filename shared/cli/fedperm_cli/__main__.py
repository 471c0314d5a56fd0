"""The command `fedperm`: errors become a message, a hint and an exit code here."""

import sys

from fedperm.errors import FedPermError
from fedperm_cli.application import application
from fedperm_cli.exit_codes import exit_code_of
from fedperm_cli.pages import stderr


def main() -> None:
    try:
        application()
    except FedPermError as error:
        console = stderr()
        console.print("error:", error.message, style="red")
        console.print("hint:", error.hint)
        sys.exit(exit_code_of(error))


if __name__ == "__main__":
    main()
