"""The end of a process's log, short enough to be read on a screen."""

import json
from pathlib import Path

_LINES = 12
_WIDTH = 200


def end_of_log(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LINES:]
    return "\n".join(f"  {_readable(line)[:_WIDTH]}" for line in lines) or "  (it is empty)"


def _readable(line: str) -> str:
    """A service's JSON line as level, message and the rest; any other line as it is."""
    try:
        entry = json.loads(line)
        level, message = entry.pop("level"), entry.pop("message")
    except (ValueError, AttributeError, KeyError):
        return line
    exception = str(entry.pop("exception", "")).splitlines()[-1:]
    rest = [f"{name}={value}" for name, value in entry.items() if name not in {"at", "logger"}]
    return " ".join([f"{level}: {message}", *rest, *exception])
