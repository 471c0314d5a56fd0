"""What /openapi.json says about answers that are not the usual one."""

from typing import Any

from fedperm.wire.message import Message
from fedperm.wire.problem import INTERNAL, MEDIA_TYPE, PROBLEMS, Problem

Responses = dict[int | str, dict[str, Any]]

_ANYWHERE = (413, 415, 422, 500, 503)
_PROBLEM = {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}


def problems(*statuses: int) -> Responses:
    """These statuses, and those that any request may meet, come with a problem document."""
    return {
        status: {"description": _titles(status), "content": _PROBLEM}
        for status in (*statuses, *_ANYWHERE)
    }


def again(answer: type[Message]) -> Responses:
    """200: it was made before; 201 is the usual answer."""
    return {200: {"description": "It was there already", "model": answer}}


def _titles(status: int) -> str:
    kinds = (*PROBLEMS.values(), INTERNAL)
    return "; ".join(sorted({kind.title for kind in kinds if kind.status == status}))
