"""Bulk bodies over HTTP: what their headers must say, and files as answers."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from fedperm.errors import BodyError, LengthRequiredError, MediaTypeError
from fedperm.web.documentation import Responses
from fedperm.wire.body import MEDIA_TYPE
from fedperm_aggregator.blobs import PublishedFile

_CONTENT = {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
BULK: dict[str, Any] = {"required": True, "content": _CONTENT}
BULK_ANSWER: dict[str, Any] = {"content": _CONTENT, "description": "The file"}
"""How /openapi.json describes bulk bodies."""
NOT_MODIFIED: Responses = {304: {"description": "The caller has it already"}}
"""For what If-None-Match may be asked of."""

_CHUNK = 1 << 18
_NEVER_CHANGES = "private, max-age=31536000, immutable"


def stated_size(request: Request) -> int:
    """The length that the request announces for a body of the right type."""
    check_media_type(request, MEDIA_TYPE)
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal() and len(length) <= 18):
        raise LengthRequiredError(
            "the length of the body is not stated", "send the header Content-Length"
        )
    return int(length)


def check_media_type(request: Request, expected: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != expected:
        raise MediaTypeError(f"the body is not {expected}", "send the header Content-Type")


async def body_of(request: Request) -> AsyncIterator[bytes]:
    """As it comes. A sender that goes away has sent a wrong body; nobody hears of it."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise BodyError("the body ended early", "send it whole") from None


def immutable(request: Request, sha256: str) -> tuple[dict[str, str], Response | None]:
    """Headers for what has this digest for ever; and the answer, if the caller has it already."""
    headers = {"ETag": f'"{sha256}"', "Cache-Control": _NEVER_CHANGES}
    known = request.headers.get("if-none-match", "")
    tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
    has_it = headers["ETag"] in tags or "*" in tags
    return headers, Response(status_code=304, headers=headers) if has_it else None


def file_response(request: Request, file: PublishedFile) -> Response:
    """For a thread: a short file is read at once, a long one chunk by chunk as it is sent."""
    headers, not_modified = immutable(request, file.sha256)
    if not_modified is not None:
        return not_modified
    size = file.path.stat().st_size
    if size <= _CHUNK:
        return Response(file.path.read_bytes(), headers=headers, media_type=MEDIA_TYPE)
    headers["Content-Length"] = str(size)
    return StreamingResponse(_chunks(file.path), headers=headers, media_type=MEDIA_TYPE)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
