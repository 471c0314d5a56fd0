"""`python -m tests.cli.unruly`: a process with a child that does what its environment says."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

CHILD = [sys.executable, "-c", "import time; time.sleep(600)"]


def main() -> int:
    if "IGNORE_SIGTERM" in os.environ:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(CHILD)
    ours = sorted(name for name in os.environ if name.startswith("FEDPERM_"))
    sys.stderr.write(f"settings {ours}\n")
    sys.stderr.flush()
    if "FAIL" in os.environ:
        sys.stderr.write('{"at": 1, "level": "error", "message": "no luck", "hint": "again"}\n')
    Path(os.environ["CHILD_FILE"]).write_text(str(child.pid))
    if "FAIL" in os.environ:
        return 7
    time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
