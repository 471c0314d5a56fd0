"""Every error leaves as a problem document: refusals, validation, unknown paths, crashes."""

import logging
import math

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from fedperm.durable_file import says_disk_is_full
from fedperm.errors import FedPermError, RateLimitError, ServiceError, StorageFullError
from fedperm.logs import request_id
from fedperm.wire.message import place_of
from fedperm.wire.problem import (
    INTERNAL,
    INVALID,
    MEDIA_TYPE,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    Problem,
    kind_of,
)

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
"""What Retry-After says when nothing better is known."""


def install_problems(app: FastAPI) -> None:
    """Crashes are caught further out, by `web.requests`."""
    app.add_exception_handler(FedPermError, _refused)
    app.add_exception_handler(OSError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_the_framework)


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    return Response(
        problem.model_dump_json(),
        problem.status,
        {"Cache-Control": "no-store", **(headers or {})},
        MEDIA_TYPE,
    )


def refusal(error: FedPermError) -> Response:
    problem = kind_of(error).problem(error.message, error.hint, request_id.get())
    if problem.status >= 500:
        log.warning("refused: %s", error.message, extra={"problem": problem.kind})
    return problem_response(problem, _headers(error, problem.status))


def crash(error: Exception) -> Response:
    """Says nothing of the error: its text may hold anything. The log has it, under the id."""
    if says_disk_is_full(error):
        return refusal(StorageFullError("no room left on the disk", "free space and try again"))
    log.error("failed: %s", type(error).__name__, exc_info=error)
    hint = "the operator finds it in the log under the request id"
    return problem_response(INTERNAL.problem("an unexpected error", hint, request_id.get()))


def retry_after(seconds: float = RETRY_SECONDS) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(seconds))}


def _headers(error: FedPermError, status: int) -> dict[str, str]:
    if isinstance(error, RateLimitError):
        return retry_after(error.retry_after_seconds)
    if isinstance(error, ServiceError):
        return retry_after()
    return {"WWW-Authenticate": "Bearer"} if status == 401 else {}


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, FedPermError)  # noqa: S101 (the handler is installed for it only)
    return refusal(error)


async def _failed(_request: Request, error: Exception) -> Response:
    return crash(error)


async def _invalid(_request: Request, error: Exception) -> Response:
    """Says where and what is wrong first, and never repeats the input: it may hold a secret."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    wrong = {"at": place_of(first), "problem": first["msg"]}
    detail, hint = f"{wrong['at']}: {wrong['problem']}", "see /openapi.json for the message's form"
    problem = INVALID.problem(detail, hint, request_id.get())
    return problem_response(problem.model_copy(update={"errors": (wrong,)}))


async def _of_the_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if isinstance(error.__cause__, FedPermError):  # raised while the body was read
        return refusal(error.__cause__)
    return problem_response(_what_is_wrong(request, error), dict(error.headers or {}))


def _what_is_wrong(request: Request, error: HTTPException) -> Problem:
    method, path = request.method, request.url.path
    hint, number = "/openapi.json has the paths and methods", request_id.get()
    match error.status_code:
        case 404:
            hint += "; is it the other server's? `fedperm preflight` tells which is which"
            return UNKNOWN_PATH.problem(f"this server has no path {path}", hint, number)
        case 405:
            return METHOD_NOT_ALLOWED.problem(f"{path} does not take {method}", hint, number)
        case _:
            return INVALID.problem(f"{method} {path}", hint, number)
