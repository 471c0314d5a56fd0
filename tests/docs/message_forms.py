"""Members of messages as docs/protocol.md writes them, read off the code."""

import json
from collections.abc import Iterable
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fedperm.services import SERVICES
from fedperm.wire.message import ClientField, KeyField, Name, RunField, Sha256
from fedperm.wire.public_keys import KeyText, SealingKeyText
from fedperm.wire.statements import Audience

_AUDIENCES = " / ".join(sorted(service.audience for service in SERVICES.values()))
_NAMED = {
    **dict.fromkeys((Name, RunField, ClientField, KeyField), "name"),
    Sha256: "hash",
    **dict.fromkeys((KeyText, SealingKeyText), "key"),
    Audience: _AUDIENCES,
}
_PLAIN = {str: "text", int: "integer", float: "number", bool: "boolean"}


def members_of(model: type[BaseModel]) -> list[str]:
    """Name, type and default of each, in order."""
    return [_member(name, field) for name, field in model.model_fields.items()]


def _member(name: str, field: FieldInfo) -> str:
    hint: Any = field.annotation
    for one in field.metadata:
        hint = Annotated[hint, one]
    if field.is_required():
        return f"`{name}` {_words(hint)}"
    default = field.get_default(call_default_factory=True)
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json")
    return f"`{name}`? {_words(hint)} = {json.dumps(default, separators=(',', ':'))}"


def _words(hint: Any) -> str:
    if hint in _NAMED:
        return _NAMED[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        return _simple(hint)
    if origin is Annotated:
        return _words(arguments[0]) + _bounds(arguments[1:])
    if origin is tuple:
        return f"[{_words(arguments[0])}]"
    if origin in {Union, UnionType}:
        return " or ".join(map(_words, arguments))
    return " / ".join(map(str, arguments)) if origin is Literal else "object"


def _simple(hint: type) -> str:
    hint = getattr(hint, "__supertype__", hint)  # an id is written as what it is made of
    if hint is NoneType:
        return "null"
    if issubclass(hint, StrEnum):
        return " / ".join(hint)
    return _PLAIN.get(hint, hint.__name__)


def _bounds(metadata: Iterable[Any]) -> str:
    """As in "from 1 to 100,000"; of texts and lists they are those of the length."""
    words = ""
    for bound in metadata:
        match bound:
            case FieldInfo(metadata=inner):
                words += _bounds(inner)
            case Ge(least) | MinLen(least):
                words += f" from {least:,}"
            case Gt(least):
                words += f" above {least:,}"
            case Le(most) | MaxLen(most):
                words += f" to {most:,.0f}"
            case Lt(most):
                words += f" below {_round_number(most)}"
    return words


def _round_number(number: int) -> str:
    return f"{number:,}" if number < 1 << 20 else f"2^{number.bit_length() - 1}"
