"""A request's body as it comes in: it has a limit, and a pace."""

import asyncio
import math
import time
from dataclasses import dataclass

from starlette.types import Message, Receive

from fedperm.errors import BodyError, BodyTooLargeError


@dataclass(frozen=True)
class Pace:
    """How long a body is waited for in all: so long, and longer for what has come of it."""

    seconds: float
    octets_per_second: float = math.inf

    def allows(self, octets: int) -> float:
        return self.seconds + octets / self.octets_per_second


class IncomingBody:
    """What comes in: too much of it, or too slowly, is refused. Only time in which the sender was
    waited for counts."""

    def __init__(self, receive: Receive, pace: Pace, most: float) -> None:
        self._receive = receive
        self._pace = pace
        self._most = most
        self._octets = 0
        self._waited = 0.0
        self._is_whole = False
        self.is_given_up = False

    async def __call__(self) -> Message:
        if self._is_whole:  # what comes now is the end of the connection, whenever it does
            return await self._receive()
        message = await self._in_time()
        self._octets += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._octets > self._most:
            raise too_large(self._most)
        return message

    async def _in_time(self) -> Message:
        start = time.perf_counter()
        try:
            async with asyncio.timeout(self._pace.allows(self._octets) - self._waited):
                return await self._receive()
        except TimeoutError:
            self.is_given_up = True
            raise BodyError("the body came too slowly", "send it again, faster") from None
        finally:
            self._waited += time.perf_counter() - start


def too_large(most: float) -> BodyTooLargeError:
    return BodyTooLargeError(
        f"the body is longer than {most:,} octets", "send one message of the protocol"
    )
