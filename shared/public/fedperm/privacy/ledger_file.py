"""A file whose every line vouches for all lines before it.

Each line carries a hash over the line and the hash before it, so a changed, missing or torn line
is noticed. The file is replaced as a whole (write, fsync, rename, fsync of the folder), so a crash
leaves the old or the new one. What the chain cannot notice is an older copy of the whole file put
back in its place.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from fedperm.durable_file import write_durably
from fedperm.errors import LedgerError

Line = dict[str, Any]


def chain(lines: list[Line]) -> bytes:
    """One JSON object a line, each with the hash of the one before and itself."""
    text, digest = b"", ""
    for line in lines:
        digest = _digest(line, digest)
        text += json.dumps({**line, "chain": digest}, sort_keys=True).encode() + b"\n"
    return text


def _digest(line: Line, previous: str) -> str:
    return hashlib.sha256((previous + json.dumps(line, sort_keys=True)).encode()).hexdigest()


def read_lines(path: Path) -> list[Line]:
    """All lines, if the file is byte for byte what `write_lines` leaves for them."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    lines = [_parse(text, path) for text in content.splitlines()]
    if not lines or chain(lines) != content:
        raise damaged(path, "a line does not follow from the lines before it")
    return lines


def _parse(text: bytes, path: Path) -> Line:
    """The line without its hash, which `read_lines` makes anew and compares."""
    try:
        line = json.loads(text)
    except ValueError as error:
        raise damaged(path, "a line is not JSON") from error
    if not isinstance(line, dict):
        raise damaged(path, "a line is not an object")
    line.pop("chain", None)
    return line


def damaged(path: Path, what: str) -> LedgerError:
    return LedgerError(
        f"the privacy ledger {path} is damaged: {what}",
        "restore it from a backup; it is not started anew, since what was released stays released",
    )


def write_lines(path: Path, lines: list[Line]) -> None:
    """Durable before it returns."""
    write_durably(path, chain(lines))
