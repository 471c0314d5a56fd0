"""Bulk bodies over HTTP: what their headers must say, and files as answers."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from fedperm.blobs.registry import open_blob
from fedperm.blobs.store import Blob, BlobRef
from fedperm.errors import BodyError, LengthRequiredError
from fedperm.web.documentation import Responses
from fedperm.web.json_body import check_media_type
from fedperm.wire.body import MEDIA_TYPE

_CONTENT = {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
BULK: dict[str, Any] = {"required": True, "content": _CONTENT}
BULK_ANSWER: dict[str, Any] = {"content": _CONTENT, "description": "The file"}
"""How /openapi.json describes bulk bodies."""


def required_header(name: str) -> dict[str, Any]:
    """For /openapi.json."""
    return {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}


NOT_MODIFIED: Responses = {304: {"description": "The caller has it already"}}
"""For what If-None-Match may be asked of."""

_CHUNK_BYTES = 1 << 18
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


def blob_response(request: Request, ref: BlobRef) -> Response:
    """For a thread: a short blob is read at once, a long one chunk by chunk as it is sent."""
    headers, not_modified = immutable(request, ref.sha256)
    if not_modified is not None:
        return not_modified
    blob = open_blob(ref)
    # before the answer begins: a blob that is missing must be an error, not a broken answer
    first = blob.read(0, min(ref.size, _CHUNK_BYTES))
    if ref.size <= _CHUNK_BYTES:
        return Response(first, headers=headers, media_type=MEDIA_TYPE)
    headers["Content-Length"] = str(ref.size)
    return StreamingResponse(_chunks(blob, first, ref.size), headers=headers, media_type=MEDIA_TYPE)


def _chunks(blob: Blob, first: bytes, size: int) -> Iterator[bytes]:
    yield first
    for start in range(len(first), size, _CHUNK_BYTES):
        yield blob.read(start, min(_CHUNK_BYTES, size - start))
