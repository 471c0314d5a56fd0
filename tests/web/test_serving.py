"""The server process: its connections, and the signals that end it."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from fedperm.web.serving import Serving, serve
from tests.web.edge import edge_service
from tests.web.test_slow_bodies import hasty_service

PATIENCE_SECONDS = 20.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def end() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def while_serving(
    app: Any, folder: Path, work: Callable[[tuple[str, int]], None], **options: Any
) -> None:
    """Serves in this thread, as a server must for the sake of its signals, and works in another."""
    address = folder / "address"
    problems: list[BaseException] = []

    def visit() -> None:
        try:
            until(address.exists)
            host, port = address.read_text().partition("://")[2].split(":")
            work((host, int(port)))
        except BaseException as problem:
            problems.append(problem)
        finally:
            end()

    visitor = threading.Thread(target=visit)
    visitor.start()
    serve(app, Serving("127.0.0.1", 0, address_file=address, **options))
    visitor.join(PATIENCE_SECONDS)
    for problem in problems:
        raise problem


def waits_for_acknowledgements(connection: socket.socket) -> bool:
    """At its other end: the server lives in this process, so its socket is one of our own."""
    for name in Path("/proc/self/fd").iterdir():
        if not name.is_socket():  # a copy of anything else would stay open for ever
            continue
        with suppress(OSError), socket.socket(fileno=os.dup(int(name.name))) as candidate:
            if candidate.getpeername() == connection.getsockname():
                return not candidate.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    raise AssertionError("the server has not accepted the connection")


def test_an_answer_does_not_wait_for_an_acknowledgement(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with socket.create_connection(address, PATIENCE_SECONDS) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: edge\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
            assert not waits_for_acknowledgements(connection)

    while_serving(edge_service(), tmp_path, work)


def test_whoever_sends_a_body_too_slowly_is_hung_up_on(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with socket.create_connection(address, PATIENCE_SECONDS) as connection:
            head = b"PUT /things HTTP/1.1\r\nHost: edge\r\nContent-Type: application/json\r\n"
            connection.sendall(head + b"Content-Length: 30\r\n\r\n{")
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 422")
        assert b"too slowly" in answer

    while_serving(hasty_service(), tmp_path, work)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_before_the_server_runs_is_not_lost(monkeypatch, number):
    run, stops = uvicorn.Server.run, []

    def run_after_a_signal(server: uvicorn.Server, *args: Any, **kwargs: Any) -> None:
        signal.raise_signal(number)
        run(server, *args, **kwargs)

    monkeypatch.setattr(uvicorn.Server, "run", run_after_a_signal)
    fired = threading.Event()
    late = threading.Timer(PATIENCE_SECONDS, lambda: (fired.set(), end()))
    late.start()
    serve(edge_service(), Serving("127.0.0.1", 0), lambda: stops.append(fired.is_set()))
    late.cancel()
    assert stops
    assert not any(stops), "it took a second signal"
