"""docs/threat-model.md as data: what it says of every attack, and which tests it names."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "threat-model.md"
BLOCKED, DETECTED, NOT_COVERED = "blocked", "detected", "not covered"
VERDICTS = (BLOCKED, DETECTED, NOT_COVERED)
LAST = "Not covered"

_TEST = re.compile(r"`(test_\w+)`")


@dataclass(frozen=True)
class Threat:
    """A row of a section's table, or a point of the list at the end. `said` is its verdict."""

    section: str
    attack: str
    said: str
    tests: tuple[str, ...]


def threats() -> list[Threat]:
    sections = re.split(r"^## (.+)$", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
    pairs = zip(sections[::2], sections[1::2], strict=True)
    return [
        threat
        for name, text in pairs
        for threat in (_points(text) if name == LAST else _rows(name, text))
    ]


def verdict_of(test: str) -> str:
    """As its name says it."""
    for verdict in VERDICTS:
        if test.startswith(f"test_{verdict.replace(' ', '_')}_"):
            return verdict
    raise ValueError(f"{test} names no verdict")


def tried() -> dict[str, Path]:
    """Every test of an attack, and the file that it is in."""
    return {
        node.name: path
        for path in sorted(HERE.glob("test_*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def file_of(section: str) -> Path:
    return HERE / f"test_{section.lower().replace(' ', '_')}.py"


def _rows(section: str, text: str) -> Iterator[Threat]:
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    for row in rows[1:]:
        attack, _, verdict, tests = (cell.strip() for cell in row.strip("|").split(" | "))
        yield Threat(section, attack, verdict, tuple(_TEST.findall(tests)))


def _points(text: str) -> Iterator[Threat]:
    for point in re.split(r"^- ", text, flags=re.MULTILINE)[1:]:
        title = re.match(r"\*\*(.+?)\*\*", point)
        assert title, point
        yield Threat(LAST, title[1], NOT_COVERED, tuple(_TEST.findall(point)))
