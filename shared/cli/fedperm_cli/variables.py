"""Variables that look like the command's and are not: they would be ignored in silence."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from fedperm.errors import SettingsError
from fedperm.services import programs

_PREFIX = "FEDPERM_"
_OF_COMMANDS = (f"{_PREFIX}OPERATOR_", f"{_PREFIX}TEST_")
"""Whoever reads these, or a program's settings, refuses misspelt ones."""

_ELSEWHERE = {f"{_PREFIX}DATA", f"{_PREFIX}VISITORS"}
"""Of experiments."""


def refuse_unknown_variables(root: Any, environment: Mapping[str, str]) -> None:
    """`root` has all commands below it: a shell's variables are there for each of them."""
    known = {name for name in _variables(root) if name.startswith(_PREFIX)}
    ours = {name for name in environment if name.startswith(_PREFIX)}
    of_others = (*_OF_COMMANDS, *(program.env_prefix for program in programs()))
    unknown = sorted(name for name in ours - known - _ELSEWHERE if not name.startswith(of_others))
    if unknown:
        raise SettingsError(f"unknown variables: {', '.join(unknown)}", _hint(unknown, known))


def _hint(unknown: list[str], known: set[str]) -> str:
    names = [name.removeprefix(_PREFIX) for name in known]
    alike = [get_close_matches(name.removeprefix(_PREFIX), names, 1) for name in unknown]
    meant = [f"{_PREFIX}{name}" for matches in alike for name in matches]
    if meant:
        return f"did you mean {', '.join(meant)}?"
    return f"unset them; the known ones are {', '.join(sorted(known))}"


def _variables(group: Any) -> Iterator[str]:
    for parameter in group.params:
        if parameter.envvar:
            yield parameter.envvar
    for command in getattr(group, "commands", {}).values():
        yield from _variables(command)
