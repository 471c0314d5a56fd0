"""Values in a configuration file have the option's own type: nothing is converted in silence."""

from pathlib import Path
from typing import Any, get_args, get_origin

from fedperm.errors import SettingsError

_FORMS: dict[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((float, int), "a number"),
    str: ((str,), "a text in quotes"),
}


def checked_value(path: Path, key: str, annotation: Any, value: Any) -> Any:
    """`annotation` is that of the command's argument. For an option that may be given several
    times, one value stands for a list of it."""
    kind, is_list = _kind(annotation)
    values = value if is_list and isinstance(value, list) else [value]
    types, words = _FORMS.get(kind, _FORMS[str])
    if any(type(one) not in types for one in values):
        raise SettingsError(
            f"the configuration {path} says {key} = {value!r}",
            f"write {words}" + (" or a list of such, in brackets" if is_list else ""),
        )
    return values if is_list else value


def _kind(annotation: Any) -> tuple[type, bool]:
    """What one value is, and whether there may be several: of `Annotated[list[str], ...]`."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation, False
    kind, is_list = _kind(get_args(annotation)[0])
    return kind, is_list or get_origin(annotation) is list
