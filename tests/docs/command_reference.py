"""Every command and option as docs/commands.md lists them, read off the command itself.

python -m tests.docs.command_reference      writes them into the document
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from fedperm_cli.application import application

DOCUMENT = Path(__file__).parents[2] / "docs" / "commands.md"
MARK = "<!-- From here on written by: python -m tests.docs.command_reference -->\n"


def reference() -> str:
    return "\n".join(_sections(typer.main.get_command(application), "fedperm"))


def _sections(group: Any, name: str) -> Iterator[str]:
    for part, command in group.commands.items():
        full = f"{name} {part}"
        if hasattr(command, "commands"):
            yield f"\n## {full}\n\n{_text(command.help)}"
            yield from _sections(command, full)
        else:
            yield from _command(command, full, "###" if name != "fedperm" else "##")


def _command(command: Any, name: str, marks: str) -> Iterator[str]:
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    usage = " ".join([name, *(p.metavar or p.name.upper() for p in arguments), "[options]"])
    yield f"\n{marks} {name}\n\n`{usage}`\n\n{_text(command.help)}\n"
    yield "| option | | default |\n|---|---|---|"
    for parameter in command.params:
        yield _row(parameter)


def _row(parameter: Any) -> str:
    names = parameter.opts if parameter.opts[0].startswith("-") else [parameter.metavar]
    variable = parameter.envvar
    words = _text(parameter.help or "")
    if variable:
        words = f"{words} Variable `{variable}`."
    return f"| `{', '.join(names)}` | {words.strip()} | {_default(parameter)} |"


def _default(parameter: Any) -> str:
    shown, value = getattr(parameter, "show_default", True), parameter.default
    if parameter.required:
        return "required"
    if isinstance(shown, str):
        return shown
    if value is None or value is False or value == [] or callable(value):
        return ""
    return f"`{getattr(value, 'value', value)}`"


def _text(words: str) -> str:
    return re.sub(r"\s+", " ", words.replace("|", "\\|")).strip()


def main() -> None:
    before, _, _ = DOCUMENT.read_text().partition(MARK)
    DOCUMENT.write_text(before + MARK + reference() + "\n")


if __name__ == "__main__":
    main()
