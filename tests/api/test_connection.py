"""Refusals come back as they were meant, hiccups are waited out, strangers are recognised."""

import httpx
import pytest

from fedperm.api.connection import Connection, Patience, Request
from fedperm.errors import RefusedError, UnreachableError
from fedperm.wire.message import Message
from tests.web.edge import Thing, caller, edge_service

pytestmark = pytest.mark.anyio


class Pauses:
    """Sleeps that take no time and are remembered."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Other(Message):
    name: str


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
async def edge(pauses):
    async with caller(edge_service()) as http:
        yield Connection(http, Patience(10.0, 0.5, pauses))


def over(handler, pauses, seconds=10.0):
    """A connection to something that is not one of our services."""
    http = httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://there")
    return Connection(http, Patience(seconds, 0.5, pauses))


async def test_a_message_goes_and_comes(edge):
    thing = Thing(count=1, share=0.5)
    assert await edge.ask(Request("PUT", "/things", message=thing), Thing) == thing


async def test_a_refusal_keeps_its_words(edge, pauses):
    with pytest.raises(RefusedError, match="it is there already") as refused:
        await edge.send(Request("GET", "/errors/conflict"))
    assert (refused.value.status, refused.value.kind) == (409, "conflict")
    assert refused.value.hint == "look first"
    assert pauses.seconds == []


async def test_a_hiccup_is_waited_out_with_growing_pauses(edge, pauses):
    with pytest.raises(RefusedError, match="busy"):
        await edge.send(Request("GET", "/errors/busy"))
    assert pauses.seconds == [1.0, 2.0, 4.0, 8.0]


async def test_a_server_that_comes_back_is_heard(pauses):
    answers = iter([httpx.ConnectError("down"), httpx.Response(502), httpx.Response(200, json={})])

    def handler(_request):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert (await over(handler, pauses).send(Request("GET", "/"))).status_code == 200
    assert pauses.seconds == [0.5, 1.0]


async def test_without_patience_the_first_failure_is_told(pauses):
    def handler(_request):
        raise httpx.ConnectError("connection refused")

    with pytest.raises(UnreachableError, match="connection refused"):
        await over(handler, pauses, seconds=0.0).send(Request("GET", "/x"))
    assert pauses.seconds == []


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(404, text="<html>"), httpx.Response(401, json={"detail": "x"})],
    ids=["html", "json"],
)
async def test_a_refusal_of_a_stranger_is_not_taken_for_ours(pauses, answer):
    with pytest.raises(UnreachableError, match="no problem document"):
        await over(lambda _request: answer, pauses).send(Request("GET", "/"))


async def test_an_answer_of_another_form_is_not_used(edge):
    thing = Thing(count=1, share=0.5)
    with pytest.raises(UnreachableError, match="something else than Other"):
        await edge.ask(Request("PUT", "/things", message=thing), Other)
