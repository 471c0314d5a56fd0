"""Room on this machine, against what a run needs."""

import shutil
from pathlib import Path

from fedperm_cli.measures import as_bytes
from fedperm_cli.preflight.findings import Finding, failed, good, skipped

LEAST_DISK_BYTES = 100 << 20
"""Where no run is known: logs, ledgers and models of small ones."""

_MEMINFO = Path("/proc/meminfo")


def look_at_disk(folder: Path, needed: int) -> Finding:
    check = "disk"
    try:
        free = shutil.disk_usage(_existing(folder)).free
    except OSError as error:
        return failed(check, f"{folder}: {error.strerror}", "choose another --state-directory")
    words = f"{as_bytes(free)} free at {folder}, {as_bytes(needed)} needed"
    if free < needed:
        return failed(check, words, "free some space, or choose another --state-directory")
    return good(check, words)


def look_at_memory(needed: int | None, available: int | None) -> Finding:
    check = "memory"
    if available is None:
        return skipped(check, "this system does not tell how much is free", "look by hand")
    if needed is None:
        return good(check, f"{as_bytes(available)} available")
    words = f"{as_bytes(available)} available, a client needs about {as_bytes(needed)}"
    if available < needed:
        return failed(check, words, "stop other programs, or use a run with smaller k1 and k2")
    return good(check, words)


def available_memory() -> int | None:
    """In octets; None where Linux is not."""
    if not _MEMINFO.exists():
        return None
    for line in _MEMINFO.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _existing(folder: Path) -> Path:
    """The folder, or the one that it would be made in."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
