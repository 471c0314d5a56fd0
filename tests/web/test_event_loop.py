"""The servers' event loop: many sockets at once do not keep it from its clock."""

import asyncio
import selectors
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from fedperm.web.event_loop import EVENTS_AT_ONCE, FewAtATime

MANY = 3 * EVENTS_AT_ONCE + 1


@pytest.fixture
def readable() -> Iterator[list[socket.socket]]:
    """Sockets that have something to say."""
    with ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(MANY)]
        for pair in pairs:
            for end in pair:
                stack.enter_context(end)
            pair[0].send(b"x")
        yield [ours for _, ours in pairs]


@pytest.fixture
def selector() -> Iterator[FewAtATime]:
    with FewAtATime() as selector:
        yield selector


def test_all_have_their_turn_a_few_at_a_time(selector, readable):
    for one in readable:
        selector.register(one.fileno(), selectors.EVENT_READ)
    turns = [selector.select(0) for _ in range(4)]
    assert [len(turn) for turn in turns] == [EVENTS_AT_ONCE] * 3 + [1]
    assert {key.fd for turn in turns for key, _ in turn} == {one.fileno() for one in readable}


def test_whoever_was_not_heard_is_told_of_again(selector, readable):
    selector.register(readable[0].fileno(), selectors.EVENT_READ)
    assert len(selector.select(0)) == len(selector.select(0)) == 1
    readable[0].recv(1)
    assert selector.select(0) == []


def test_what_changed_meanwhile_is_respected(selector, readable):
    for one in readable:
        selector.register(one.fileno(), selectors.EVENT_READ, "before")
    selector.select(0)
    for one in readable:
        selector.unregister(one.fileno())
    changed = readable[-1].fileno()
    selector.register(changed, selectors.EVENT_READ, "after")
    told = [ready for _ in range(3) for ready in selector.select(0)]
    assert {(key.fd, key.data) for key, _ in told} == {(changed, "after")}


def test_a_timer_does_not_wait_for_all_sockets(readable):
    loop = asyncio.SelectorEventLoop(FewAtATime())
    heard: list[int] = []
    before: list[int] = []

    def hear(one: socket.socket) -> None:
        heard.append(len(one.recv(1)))
        if len(heard) == 1:
            loop.call_later(0, lambda: before.append(len(heard)))
        if len(heard) == MANY:
            loop.stop()

    for one in readable:
        one.setblocking(False)
        loop.add_reader(one, hear, one)
    loop.run_forever()
    loop.close()
    assert len(heard) == MANY
    assert before[0] <= 2 * EVENTS_AT_ONCE
