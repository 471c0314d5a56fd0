"""What a peer answers, read within limits: it may be hostile, and memory is finite."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
from pydantic import ValidationError

from fedperm.errors import UntrustedError
from fedperm.wire.problem import MEDIA_TYPE, Problem

LARGEST_MESSAGE = 1 << 22
"""Octets of JSON, unless its message says otherwise. Parsed it can take a hundred times as much."""
LARGEST_BODY = 1 << 32
"""Octets of a bulk answer to whoever does not know its length."""
LONGEST_LINE = 1 << 24
"""Octets of one line of a stream."""

NOT_ENCODED = "identity"


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: httpx.Headers
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    @property
    def problem(self) -> Problem | None:
        """None if it says nothing that we understand."""
        if not self.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
            return None
        try:
            return Problem.model_validate_json(self.content)
        except ValidationError:
            return None


async def read_answer(response: httpx.Response, most_octets: int) -> Answer:
    """All of it. Of a refusal the status is enough: what is too long or encoded may be the page
    of a proxy, and is left out."""
    try:
        check_encoding(response)
        limit = most_octets if response.is_success else LARGEST_MESSAGE
        content = await _content(response, limit)
    except UntrustedError:
        if response.is_success:
            raise
        content = b""
    return Answer(response.status_code, response.headers, content)


async def lines_of(response: httpx.Response) -> AsyncIterator[str]:
    """As they come, without their ends."""
    rest = bytearray()
    async for chunk in response.aiter_bytes():
        rest += chunk
        if b"\n" in chunk:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                yield line.removesuffix(b"\r").decode(errors="replace")
        if len(rest) > LONGEST_LINE:
            raise _too_long(response, LONGEST_LINE)


def check_encoding(response: httpx.Response) -> None:
    """A few octets of an encoded answer can become any number."""
    if response.headers.get("Content-Encoding", NOT_ENCODED).lower() != NOT_ENCODED:
        raise UntrustedError(
            f"{response.url} answered encoded, though asked not to",
            "check the address, and that no proxy in between compresses",
        )


async def _content(response: httpx.Response, most_octets: int) -> bytes:
    stated = response.headers.get("Content-Length", "0")
    if stated.isdecimal() and int(stated) > most_octets:
        raise _too_long(response, most_octets)
    chunks, length = [], 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        length += len(chunk)
        if length > most_octets:
            raise _too_long(response, most_octets)
    return b"".join(chunks)


def _too_long(response: httpx.Response, most_octets: int) -> UntrustedError:
    return UntrustedError(
        f"{response.url} answered with more than {most_octets:,} octets",
        "check that it is the right server, and both versions",
    )
