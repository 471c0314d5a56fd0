"""Options from a file: below command line and environment, above the defaults.

    keyserver = "https://keys.example:8441"     # of every command that has the option

    [run.create]                                # of one command
    k1 = 400
    epsilon = 4.0

A key that names no option is refused: it would be ignored in silence. So is a value of another type
than the option's.
"""

import tomllib
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from fedperm.errors import SettingsError
from fedperm_cli.config_values import checked_value

Table = Mapping[str, Any]

_NOT_IN_FILES = {"help", "config", "version", "install-completion", "show-completion"}


def options_in(path: Path, root: Any) -> dict[str, Any]:
    """What the file says, command by command, as typer takes defaults."""
    content = _read(path)
    common = {name: value for name, value in content.items() if not isinstance(value, dict)}
    unknown = sorted({_plain(name) for name in common} - set(_all_options(root)))
    if unknown:
        raise _unknown(path, unknown, "no command has such an option")
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    return _defaults(path, root, tables, common, "")


def _defaults(path: Path, group: Any, tables: Table, common: Table, place: str) -> dict[str, Any]:
    unknown = sorted(set(tables) - set(group.commands))
    if unknown:
        raise _unknown(path, [place + name for name in unknown], "there is no such command")
    defaults: dict[str, Any] = {}
    for name, command in group.commands.items():
        own, where = tables.get(name, {}), f"{place}{name}"
        if hasattr(command, "commands"):
            defaults[name] = _defaults(path, command, own, common, f"{where}.")
        else:
            defaults[name] = _of_command(path, command, own, common, where)
    return defaults


def _of_command(path: Path, command: Any, own: Table, common: Table, place: str) -> dict[str, Any]:
    options = _options(command)
    unknown = sorted({_plain(name) for name in own} - set(options))
    if unknown:
        known = f"the known ones are {', '.join(sorted(options))}"
        raise _unknown(path, [f"{place}.{name}" for name in unknown], known)
    shared = {name: value for name, value in common.items() if _plain(name) in options}
    types = signature(command.callback).parameters
    defaults: dict[str, Any] = {}
    for name, value in {**shared, **own}.items():
        argument, key = options[_plain(name)], f"{place}.{name}" if name in own else name
        defaults[argument] = checked_value(path, key, types[argument].annotation, value)
    return defaults


def _options(command: Any) -> dict[str, str]:
    """Long names without their dashes, and what the parameter is called."""
    return {
        name.removeprefix("--"): parameter.name
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("--") and name.removeprefix("--") not in _NOT_IN_FILES
    }


def _all_options(group: Any) -> Iterator[str]:
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from _all_options(command)
        else:
            yield from _options(command)


def _plain(name: str) -> str:
    """k1, run_operator_token_file and run-operator-token-file alike."""
    return name.replace("_", "-")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the configuration {path} cannot be read: {error}", "check --config or FEDPERM_CONFIG"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"the configuration {path} is no TOML: {error}", 'write lines like k1 = 400 or a = "b"'
        ) from None


def _unknown(path: Path, names: list[str], hint: str) -> SettingsError:
    return SettingsError(f"the configuration {path} has unknown keys: {', '.join(names)}", hint)
