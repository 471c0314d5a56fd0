"""One HTTP connection: messages in, messages out, problems as errors, patience with hiccups."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import httpx
from pydantic import ValidationError

from fedperm.api.answers import (
    LARGEST_BODY,
    LARGEST_MESSAGE,
    NOT_ENCODED,
    Answer,
    check_encoding,
    lines_of,
    read_answer,
)
from fedperm.errors import RefusedError, SettingsError, UnreachableError
from fedperm.plain_text import one_line
from fedperm.wire.message import Message

Expected = TypeVar("Expected", bound=Message)

Outcome = Answer | httpx.RequestError

TIMEOUT_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 10.0
_AGAIN = {429, 503, 507}
"""Statuses that say: nothing happened, come back."""


@dataclass(frozen=True)
class Patience:
    """How long a hiccup is waited out. Requests of the protocol may be sent again: each either
    changes nothing the second time or says that it was done. Of an assertion whose answer was lost
    it says 401: whoever wants an access token then signs another one."""

    seconds: float
    first_pause_seconds: float = 0.2
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Request:
    """An answer of more than `most_octets` is not read to its end, and not believed."""

    method: str
    path: str
    token: str | None = None
    message: Message | None = None
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    timeout_seconds: float = TIMEOUT_SECONDS
    most_octets: int = LARGEST_BODY


def http_client(
    base_url: str, ca_file: Path | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """A client that trusts the given CA only, if there is one."""
    try:
        verify = ssl.create_default_context(cafile=ca_file) if ca_file else True
    except OSError as error:
        raise SettingsError(
            f"the CA file {ca_file} cannot be read: {error}", "check its path and content"
        ) from None
    return httpx.AsyncClient(
        base_url=base_url, verify=verify, transport=transport, follow_redirects=False
    )


class Connection:
    """To one server."""

    def __init__(self, http: httpx.AsyncClient, patience: Patience) -> None:
        self._http = http
        self._patience = patience

    @property
    def base_url(self) -> str:
        return str(self._http.base_url)

    async def ask(self, request: Request, expected: type[Expected]) -> Expected:
        """The answer as a message."""
        most_octets: int = getattr(expected, "most_octets", LARGEST_MESSAGE)
        answer = await self.send(replace(request, most_octets=most_octets))
        try:
            return expected.model_validate_json(answer.content)
        except ValidationError:
            raise UnreachableError(
                f"{request.method} {request.path} was answered with something else than "
                f"{expected.__name__}",
                f"check that {self.base_url} is the right server, and both versions",
            ) from None

    async def send(self, request: Request) -> Answer:
        """The raw answer; a refusal is raised."""
        waited, pause = 0.0, self._patience.first_pause_seconds
        while True:
            outcome = await self._try(request)
            if isinstance(outcome, Answer) and outcome.is_success:
                return outcome
            if not _worth_another_try(outcome) or waited >= self._patience.seconds:
                raise self._failure(request, outcome)
            pause = min(max(pause, _wanted_pause(outcome)), LONGEST_PAUSE_SECONDS)
            await self._patience.sleep(pause)
            waited, pause = waited + pause, pause * 2

    async def lines(self, request: Request) -> AsyncIterator[str]:
        """The lines of an answer that does not end by itself."""
        try:
            async with self._stream(request) as response:
                if not response.is_success:
                    raise self._failure(request, await read_answer(response, LARGEST_MESSAGE))
                check_encoding(response)
                async for line in lines_of(response):
                    yield line
        except httpx.RequestError as error:
            raise self._failure(request, error) from None

    async def _try(self, request: Request) -> Outcome:
        try:
            async with self._stream(request) as response:
                return await read_answer(response, request.most_octets)
        except httpx.RequestError as error:
            return error

    def _stream(self, request: Request) -> AbstractAsyncContextManager[httpx.Response]:
        self._http.cookies.clear()  # none is wanted, and they would pile up
        headers = {**dict(request.headers), "Accept-Encoding": NOT_ENCODED}
        if request.token is not None:
            headers["Authorization"] = f"Bearer {request.token}"
        content = request.body
        if request.message is not None:
            content = request.message.model_dump_json().encode()
            headers["Content-Type"] = "application/json"
        return self._http.stream(
            request.method,
            request.path,
            content=content,
            headers=headers,
            params=dict(request.parameters) or None,
            timeout=request.timeout_seconds,
        )

    def _failure(self, request: Request, outcome: Outcome) -> RefusedError | UnreachableError:
        if isinstance(outcome, Answer):
            problem = outcome.problem
            if problem is not None:
                return RefusedError(
                    one_line(problem.detail),
                    one_line(problem.hint),
                    status=problem.status,
                    kind=problem.kind,
                )
            what = f"answered {outcome.status_code} and no problem document"
        else:
            what = f"did not answer: {str(outcome) or type(outcome).__name__}"
        return UnreachableError(
            f"{self.base_url} {what}", f"check the address, and that it is up ({request.path})"
        )


def _worth_another_try(outcome: Outcome) -> bool:
    if isinstance(outcome, Answer):
        return outcome.status_code in _AGAIN or outcome.status_code in {500, 502, 504}
    return True


def _wanted_pause(outcome: Outcome) -> float:
    if isinstance(outcome, httpx.RequestError):
        return 0.0
    wanted = outcome.headers.get("Retry-After", "")
    return float(wanted) if wanted.isdecimal() else 0.0
