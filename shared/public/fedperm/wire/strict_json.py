"""JSON that every reader understands alike: UTF-8, no member twice, no NaN.

Parsers differ in what they make of the rest. Of two members with one name some take the first and
some the last, so that whoever checks a message and whoever acts on it may see two messages.
"""

import json
from typing import Any


def parse_json(octets: bytes) -> Any:
    """A ValueError says, without repeating the input, why it is none."""
    try:
        return _DECODER.decode(octets.decode())
    except UnicodeDecodeError:
        raise ValueError("JSON is in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg}, at character {error.pos}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once_each(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member stands in it twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_refuse)
