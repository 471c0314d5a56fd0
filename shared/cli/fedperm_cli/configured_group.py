"""The group of all commands, which knows where --config belongs."""

from typing import Any

from typer.core import TyperGroup

from fedperm_cli.errors import OptionsError

_CONFIG = "--config"


class ConfiguredGroup(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """No command has the option: it would be called unknown, and it is not."""
        if any(word == _CONFIG or word.startswith(f"{_CONFIG}=") for word in args[1:]):
            raise OptionsError(
                f"{_CONFIG} stands before the command", f"fedperm {_CONFIG} FILE {args[0]} ..."
            )
        return super().resolve_command(ctx, args)
