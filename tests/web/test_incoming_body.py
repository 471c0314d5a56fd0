"""A body as it comes in, message by message: so long, so slowly, and no more."""

import asyncio

import pytest
from starlette.types import Message

from fedperm.errors import BodyError, BodyTooLargeError
from fedperm.web.incoming_body import IncomingBody, Pace

pytestmark = pytest.mark.anyio

AMPLE = Pace(60.0)
HANGING_UP: Message = {"type": "http.disconnect"}


def part(octets: int, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": bytes(octets), "more_body": more}


def sending(*script: Message | float):
    """What the connection gives: these messages, after pauses of so many seconds."""
    waiting = list(script)

    async def receive() -> Message:
        while isinstance(waiting[0], float):
            await asyncio.sleep(waiting.pop(0))
        return waiting.pop(0)

    return receive


def test_a_pace_allows_the_more_time_the_more_has_come():
    assert Pace(30.0).allows(10**9) == 30.0
    assert Pace(30.0, octets_per_second=100.0).allows(1000) == 40.0


async def test_a_body_of_just_the_limit_comes_through():
    messages = [part(6), part(4, more=False)]
    body = IncomingBody(sending(*messages), AMPLE, most=10)
    assert [await body(), await body()] == messages


async def received(body: IncomingBody, messages: int) -> int:
    """Octets."""
    return sum([len((await body())["body"]) for _ in range(messages)])


@pytest.mark.parametrize("sizes", [(11,), (6, 5)], ids=str)
async def test_one_octet_more_is_refused(sizes):
    body = IncomingBody(sending(*map(part, sizes)), AMPLE, most=10)
    with pytest.raises(BodyTooLargeError):
        await received(body, len(sizes))
    assert not body.is_given_up


@pytest.mark.parametrize("last", [part(1, more=False), {"type": "http.request"}], ids=str)
async def test_after_the_end_the_connection_may_stay_silent_for_as_long_as_it_likes(last):
    """Whoever waits for a client to hang up waits without a limit."""
    body = IncomingBody(sending(last, 0.6, HANGING_UP), Pace(0.5), most=10)
    assert await body() == last
    assert await body() == HANGING_UP


async def test_the_time_for_all_messages_together_is_limited():
    body = IncomingBody(sending(*[0.05, part(1)] * 10), Pace(0.2), most=1000)
    with pytest.raises(BodyError, match="too slowly"):
        await received(body, 10)
    assert body.is_given_up


async def test_time_that_passes_between_messages_here_is_not_the_senders():
    body = IncomingBody(sending(part(1), part(1, more=False)), Pace(0.5), most=10)
    await body()
    await asyncio.sleep(0.6)
    await body()
    assert not body.is_given_up
