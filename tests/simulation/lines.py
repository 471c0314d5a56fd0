"""The network: a line from one party to a server, on which things get lost, come twice or late."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import httpx

from tests.simulation.lives import Life, Party, acting
from tests.simulation.tally import Tally

Happening = Callable[[], Awaitable[None]]


class Mishap(StrEnum):
    LOST_REQUEST = "lost request"
    LOST_ANSWER = "lost answer"
    DOUBLED = "doubled request"
    LATE = "late request"
    SLOW = "slow body"
    OVERLAPPING = "overlapping request"


@dataclass
class Trouble:
    """Happens to the `left`-th request from now on, or to the `left`-th upload."""

    mishap: Mishap
    left: int
    is_aimed: bool = False

    def comes(self, request: httpx.Request) -> bool:
        if not self.is_aimed or "/updates/" in request.url.path:
            self.left -= 1
        return self.left <= 0


class Witness(Protocol):
    """Sees what travels, and may object."""

    def leaves(self, sender: Party | None, request: httpx.Request) -> None: ...

    def is_answered(
        self, server: "Server", request: httpx.Request, response: httpx.Response
    ) -> None: ...


class Server(Party):
    """A party that answers; subclasses start one. `a_while` lets time pass and its loop tick."""

    witness: Witness
    app: object
    a_while: Happening

    async def answer(
        self, request: httpx.Request, meanwhile: Happening | None = None
    ) -> httpx.Response:
        """Or an error of the connection, if the server is down or ends meanwhile."""
        life = self.life
        if life is None:
            raise httpx.ConnectError(f"{self.name} is down")
        self.tally.requests += 1
        sent = request if meanwhile is None else _slowed(request, meanwhile)
        with acting(life):
            work = asyncio.ensure_future(self._response(sent))
        response = await _unless_it_ends(life, work)
        self.witness.is_answered(self, request, response)
        return response

    async def _response(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        answer = await transport.handle_async_request(request)
        content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


async def _unless_it_ends(life: Life, work: "asyncio.Future[httpx.Response]") -> httpx.Response:
    """What a dead server was about to say is not heard, and whatever it waits for is in vain."""
    end = asyncio.ensure_future(life.end.wait())
    await asyncio.wait({work, end}, return_when=asyncio.FIRST_COMPLETED)
    end.cancel()
    if not life.is_over:
        return work.result()
    work.cancel()
    await asyncio.wait({work})
    raise httpx.ReadError(f"{life.party.name} died meanwhile")


class Line(httpx.AsyncBaseTransport):
    """`sender` is None for the operators, whose lines are good."""

    def __init__(self, sender: Party | None, server: Server, tally: Tally) -> None:
        self.trouble: Trouble | None = None
        self.late: list[httpx.Request] = []
        self.failed = False
        self._sender = sender
        self._server = server
        self._tally = tally

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self._server.witness.leaves(self._sender, request)
        self._pass("line.asked")
        mishap = self._mishap(request)
        try:
            response = await self._carry(request, mishap)
        except httpx.RequestError:
            self.failed = True
            raise
        self._pass("line.answered")
        return response

    async def deliver_late(self) -> None:
        """What was under way all the time."""
        while self.late:
            request = self.late.pop(0)
            with suppress(httpx.RequestError):
                await self._server.answer(_again(request))
                self._tally.faults[Mishap.LATE.value] += 1

    async def _carry(self, request: httpx.Request, mishap: Mishap | None) -> httpx.Response:
        if mishap is Mishap.LATE:
            self.late.append(request)
        if mishap in {Mishap.LOST_REQUEST, Mishap.LATE}:
            raise httpx.ConnectError("the request was lost")
        response = await self._server.answer(request, self._meanwhile(request, mishap))
        if mishap is Mishap.DOUBLED:
            response = await self._server.answer(_again(request))
        if mishap is Mishap.LOST_ANSWER:
            raise httpx.ReadError("the answer was lost")
        return response

    def _mishap(self, request: httpx.Request) -> Mishap | None:
        if self.trouble is None or not self.trouble.comes(request):
            return None
        mishap, self.trouble = self.trouble.mishap, None
        if mishap in {Mishap.LOST_REQUEST, Mishap.LOST_ANSWER, Mishap.DOUBLED}:
            self._tally.faults[mishap.value] += 1
        return mishap

    def _meanwhile(self, request: httpx.Request, mishap: Mishap | None) -> Happening | None:
        """What happens between the head of a request and its body."""

        async def a_while() -> None:
            self._tally.faults[Mishap.SLOW.value] += 1
            await self._server.a_while()

        async def again() -> None:
            self._tally.faults[Mishap.OVERLAPPING.value] += 1
            with suppress(httpx.RequestError):
                await self._server.answer(_again(request))

        happenings = {Mishap.SLOW: a_while, Mishap.OVERLAPPING: again}
        return None if mishap is None else happenings.get(mishap)

    def _pass(self, moment: str) -> None:
        """Also between two parties the sender may end."""
        if self._sender is not None and self._sender.is_up:
            self._sender.passes(moment)


def _slowed(request: httpx.Request, meanwhile: Happening) -> httpx.Request:
    return httpx.Request(
        request.method, request.url, headers=request.headers, stream=_Slow(request, meanwhile)
    )


class _Slow(httpx.AsyncByteStream):
    def __init__(self, request: httpx.Request, meanwhile: Happening) -> None:
        self._request = request
        self._meanwhile = meanwhile

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._request.content:
            await self._meanwhile()
        yield self._request.content


def _again(request: httpx.Request) -> httpx.Request:
    return httpx.Request(
        request.method, request.url, headers=request.headers, content=request.content
    )
