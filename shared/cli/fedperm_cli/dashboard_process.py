"""`python -m fedperm_cli.dashboard_process`: `fedperm dashboard`, all of whose options are in
variables, for programs that start it as they start services."""

import sys

from fedperm_cli.__main__ import main

if __name__ == "__main__":
    sys.argv = ["fedperm", "dashboard"]
    main()
