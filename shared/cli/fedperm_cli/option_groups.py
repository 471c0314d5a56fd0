"""Options that belong together as one argument of a command.

A parameter whose type is a dataclass stands for the dataclass's fields: each is an option of its
own in the help and on the command line, and the command gets them back as one object. Fields
of the same name in several groups are one option.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_type_hints

Command = TypeVar("Command", bound=Callable[..., None])


def with_option_groups(command: Command) -> Command:
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    plain = [name for name in signature(command).parameters if name not in groups]

    @wraps(command)
    def spread(**given: Any) -> None:
        collected = {
            name: group(**{field.name: given[field.name] for field in fields(group)})
            for name, group in groups.items()
        }
        command(**{name: given[name] for name in plain}, **collected)

    parameters = _spread_parameters(command, hints, groups)
    spread.__signature__ = Signature(list(parameters.values()))  # type: ignore[attr-defined]
    spread.__annotations__ = {name: p.annotation for name, p in parameters.items()}
    return spread  # type: ignore[return-value]


def _spread_parameters(
    command: Callable[..., None], hints: dict[str, Any], groups: dict[str, Any]
) -> dict[str, Parameter]:
    """By name, so that options that several groups share appear once."""
    spread: dict[str, Parameter] = {}
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            spread[name] = parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            spread[field.name] = Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=types[field.name],
            )
    return spread


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default
