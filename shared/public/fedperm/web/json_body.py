"""JSON bodies of requests: read when the credential was found good, and not before.

FastAPI reads a body before anything else is looked at. Here a body is a dependency like the others,
and depends on the one that says who asks: whoever is refused there has not made this server read.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from fedperm.errors import MediaTypeError
from fedperm.wire.message import Message
from fedperm.wire.strict_json import parse_json

JSON = "application/json"
FORM = "fedperm_form"
"""The attribute by which `web.documentation` finds the form of a body."""


Form = TypeVar("Form", bound=Message)


def check_media_type(request: Request, expected: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != expected:
        raise MediaTypeError(
            f"the body is not {expected}", f"send the header Content-Type: {expected}"
        )


def sent(form: type[Form], after: Callable[..., Any]) -> Any:
    """A body of this form; `after` is the dependency that admits whoever asks. FastAPI calls this
    only if that one had nothing to object to, not even to a name in the path."""

    async def read(request: Request, _admitted: Annotated[object, Depends(after)]) -> Form:
        return understood(await members_of(request), form)

    setattr(read, FORM, form)
    return Depends(read)


async def members_of(request: Request) -> Any:
    """The body as JSON of no form in particular. Its length is limited by `web.requests`."""
    check_media_type(request, JSON)
    octets = await request.body()
    try:
        return parse_json(octets)
    except ValueError as error:
        raise _invalid((), str(error)) from None


def understood(members: Any, form: type[Form]) -> Form:
    """The message, or the first thing that is wrong with it. Members that the form does not have
    are looked for by hand: pydantic would note down each of thousands."""
    if isinstance(members, dict):
        for name in members:
            if name not in form.model_fields:
                raise _invalid((name,), "Extra inputs are not permitted")
    try:
        return form.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _invalid(first["loc"], first["msg"]) from None


def _invalid(place: tuple[int | str, ...], what: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", *place), "msg": what}])
