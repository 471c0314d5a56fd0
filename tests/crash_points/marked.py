"""The steps that are marked in the sources as leaving something on the disk."""

import ast
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef

ROOT = Path(__file__).parents[2]
MARKS = {"transaction", "persisting"}
WRITING = {
    *("write_durably", "publish", "replacing"),
    *("create_durably", "creating", "create_exclusively"),
    *("unlink", "rename", "renames", "replace", "rmtree", "rmdir", "remove", "removedirs"),
    *("write_bytes", "write_text", "touch", "truncate", "ftruncate", "move", "copy", "copyfile"),
    *("copytree", "symlink", "link", "symlink_to", "hardlink_to", "posix_fallocate"),
}
"""Calls that change files; to open one is counted if it is for writing."""
OF_SHARED_NAMES = {
    "replace": {"os"},
    "remove": {"os"},
    "copy": {"shutil"},
    "move": {"shutil"},
    "link": {"os"},
}
"""Texts, lists and dataclasses have methods of these names too: only these modules are meant. (Of a
path `replace` is what has one argument.)"""
_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


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


def _all_functions() -> Iterator[tuple[str, Function]]:
    for path in sources():
        yield from _functions(ast.parse(path.read_text()))


def _is_marked(function: Function) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id in MARKS for mark in function.decorator_list)


def writes(call: str) -> bool:
    """Of the text of one."""
    expression = ast.parse(call, mode="eval").body
    assert isinstance(expression, ast.Call)
    return _writes(expression)


def _writes(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    owner = getattr(getattr(call.func, "value", None), "id", None)
    if name in {"open", "fdopen"}:
        return _is_for_writing(call)
    if name == "replace" and owner != "os":
        return isinstance(call.func, ast.Attribute) and _has_one_argument(call)
    if name in OF_SHARED_NAMES:
        return owner in OF_SHARED_NAMES[name]
    return name in WRITING


def _has_one_argument(call: ast.Call) -> bool:
    """As `Path.replace` has; of texts it has two, of dataclasses it takes keywords."""
    return len(call.args) == 1 and not call.keywords


def _is_for_writing(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = [str(a.value) for a in given if isinstance(a, ast.Constant)]
    flags = {node.attr for a in given for node in ast.walk(a) if isinstance(node, ast.Attribute)}
    is_mode = any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
    return is_mode or bool(flags & _FLAGS)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
