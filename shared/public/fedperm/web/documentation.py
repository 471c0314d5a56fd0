"""What /openapi.json says about bodies, and about answers that are not the usual one."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic.json_schema import models_json_schema

from fedperm.web.json_body import FORM, JSON
from fedperm.wire.message import Message
from fedperm.wire.problem import INTERNAL, MEDIA_TYPE, PROBLEMS, Problem

Responses = dict[int | str, dict[str, Any]]

ANYWHERE = (413, 415, 422, 500, 503, 507)
"""What any request may meet."""

_SCHEMAS = "#/components/schemas/"
_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": _SCHEMAS + "Problem"}}}


def problems(*statuses: int) -> Responses:
    """These statuses come with a problem document."""
    return {status: {"description": _titles(status), "content": _PROBLEM} for status in statuses}


def again(answer: type[Message]) -> Responses:
    """200: it was made before; 201 is the usual answer."""
    return {200: {"description": "It was there already", "model": answer}}


class DocumentedApp(FastAPI):
    """Its description holds the form of problems, which no route has as its answer, and the forms
    of bodies, of which FastAPI does not know (`web.json_body`). A path with a slash too many is
    unknown: a redirect would lead to whatever host the caller has named."""

    _described: dict[str, Any] | None = None
    """What FastAPI keeps and we have completed: it takes as long as a hundred requests."""

    def __init__(self, **options: Any) -> None:
        super().__init__(redirect_slashes=False, **options)

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        if document is self._described:
            return document
        schemas = document["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema()
        bodies = list(self._bodies())
        _, forms = models_json_schema(
            [(form, "validation") for _, _, form in bodies], ref_template=_SCHEMAS + "{model}"
        )
        # what is sent may leave out what has a default: that is true of answers as well
        schemas.update(forms.get("$defs", {}))
        for path, method, form in bodies:
            content = {JSON: {"schema": {"$ref": _SCHEMAS + form.__name__}}}
            operation = document["paths"][path][method.lower()]
            operation["requestBody"] = {"required": True, "content": content}
        self._described = document
        return document

    def _bodies(self) -> Iterator[tuple[str, str, type[Message]]]:
        """Path, method and form of every JSON body."""
        for route in iter_route_contexts(self.routes):
            if isinstance(route.original_route, APIRoute) and route.include_in_schema:
                path = str(route.path_format)
                for form in _forms(route.dependant):
                    for method in route.methods or ():
                        yield path, method, form


def _forms(dependant: Dependant) -> Iterator[type[Message]]:
    for needed in dependant.dependencies:
        form = getattr(needed.call, FORM, None)
        if form is not None:
            yield form
        yield from _forms(needed)


def _titles(status: int) -> str:
    kinds = (*PROBLEMS.values(), INTERNAL)
    return "; ".join(sorted({kind.title for kind in kinds if kind.status == status}))
