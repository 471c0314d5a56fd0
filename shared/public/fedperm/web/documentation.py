"""What /openapi.json says about answers that are not the usual one."""

from typing import Any

from fastapi import FastAPI

from fedperm.wire.message import Message
from fedperm.wire.problem import INTERNAL, MEDIA_TYPE, PROBLEMS, Problem

Responses = dict[int | str, dict[str, Any]]

ANYWHERE = (413, 415, 422, 500, 503, 507)
"""What any request may meet."""

_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def problems(*statuses: int) -> Responses:
    """These statuses come with a problem document."""
    return {status: {"description": _titles(status), "content": _PROBLEM} for status in statuses}


def again(answer: type[Message]) -> Responses:
    """200: it was made before; 201 is the usual answer."""
    return {200: {"description": "It was there already", "model": answer}}


class DocumentedApp(FastAPI):
    """Its description holds the form of problems, which no route has as its answer. A path with a
    slash too many is unknown: a redirect would lead to whatever host the caller has named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(redirect_slashes=False, **options)

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return document


def _titles(status: int) -> str:
    kinds = (*PROBLEMS.values(), INTERNAL)
    return "; ".join(sorted({kind.title for kind in kinds if kind.status == status}))
