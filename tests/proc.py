"""What the system says of other processes, which may end while it is asked."""

from pathlib import Path


def is_running(pid: int) -> bool:
    """A zombie that nobody has reaped yet does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # gone before the file was opened, or while it was read
        return False


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:  # a thread that has ended
            continue
    return found


def workers_of(pid: int) -> list[int]:
    """Without the process in which Python keeps track of what is to be cleaned up."""
    return [child for child in children_of(pid) if _is_worker(child)]


def family_of(pid: int) -> list[int]:
    """A process and all that it started, and they in turn."""
    return [pid, *(member for child in children_of(pid) for member in family_of(child))]


def _is_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
