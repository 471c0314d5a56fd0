"""The steps that are marked in the sources as leaving something on the disk."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = {"transaction", "persisting"}
WRITING = {
    *("write_durably", "publish", "replacing", "write_lines"),
    *("unlink", "rename", "write_bytes", "write_text", "open"),
}
"""Calls that may change files; to open one is counted if it is for writing."""


def sources() -> Iterator[Path]:
    for home in ("services", "shared/public", "shared/secret"):
        yield from (ROOT / home).rglob("*.py")


def marked_steps() -> set[str]:
    """By their qualified names, as crash points have them."""
    return {name for name, function in _all_functions() if _is_marked(function)}


def unmarked_writers() -> set[str]:
    """Functions that change files and are not marked."""
    return {
        name
        for name, function in _all_functions()
        if not _is_marked(function)
        and any(isinstance(node, ast.Call) and _writes(node) for node in ast.walk(function))
    }


def _all_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sources():
        yield from _functions(ast.parse(path.read_text()))


def _is_marked(function: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id in MARKS for mark in function.decorator_list)


def _writes(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    if name == "open":
        return any(isinstance(a, ast.Constant) and str(a.value)[:1] in "wax" for a in call.args)
    return name in WRITING


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
