"""The proxy does to the bytes what it says, and nothing else."""

import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.chaos.faults import Fault, FaultKind, any_fault, by_chance, listed, no_faults
from tests.chaos.network import Network
from tests.chaos.upload_witness import Slot, UploadWitness

PATIENCE_SECONDS = 60.0
GONE = (HTTPException, ConnectionError)
BODY = bytes(range(256)) * 40
PATH = "/v1/runs/demo/rounds/3/updates/ada"


class Echo(ThreadingHTTPServer):
    """Answers with what it got, and remembers it."""

    daemon_threads = True

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.broken = 0
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        self.broken += 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Echo

    def do_PUT(self) -> None:
        wanted = int(self.headers["Content-Length"])
        body = self.rfile.read(wanted)
        if len(body) < wanted:
            raise ConnectionResetError
        self.server.received.append(body)
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def witness() -> UploadWitness:
    return UploadWitness()


@pytest.fixture
def network(witness: UploadWitness) -> Iterator[Network]:
    with Network(witness) as network:
        yield network


@pytest.fixture
def through(network: Network, echo: Echo):
    """A connection to the echo whose requests meet these faults."""
    opened: list[HTTPConnection] = []

    def connect(*faults: Fault) -> HTTPConnection:
        address = network.link(f"http://127.0.0.1:{echo.server_port}", listed(faults))
        opened.append(HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE_SECONDS))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def put(connection: HTTPConnection, body: bytes = BODY) -> bytes:
    connection.request("PUT", PATH, body)
    return connection.getresponse().read()


def until(condition) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_without_faults_requests_follow_each_other_on_one_connection(through, echo, witness):
    connection = through()
    assert [put(connection, body) for body in (b"", b"a", BODY)] == [b"", b"a", BODY]
    assert echo.received == [b"", b"a", BODY]
    assert witness.requests == 3
    assert not witness.faults


@pytest.mark.parametrize(
    ("fault", "served"),
    [
        (Fault(FaultKind.DROP), 0),
        (Fault(FaultKind.CUT_REQUEST, 5), 0),
        (Fault(FaultKind.CUT_REQUEST, 1000), 0),
        (Fault(FaultKind.CUT_REQUEST, 1 << 30), 0),
        (Fault(FaultKind.CUT_ANSWER, 5), 1),
        (Fault(FaultKind.CUT_ANSWER, 5000), 1),
        (Fault(FaultKind.LOSE_ANSWER), 1),
    ],
    ids=lambda value: f"{value.kind} {value.octets}" if isinstance(value, Fault) else "",
)
def test_a_cut_shows_as_an_error_and_the_request_may_be_sent_again(
    through, echo, witness, fault, served
):
    connection = through(fault)
    with pytest.raises(GONE):
        put(connection)
    until(lambda: len(echo.received) == served)
    connection.close()
    assert put(connection) == BODY
    assert echo.received == [BODY] * (served + 1)
    assert dict(witness.faults) == {fault.kind: 1}


def test_a_delay_is_one(through):
    start = time.monotonic()
    assert put(through(Fault(FaultKind.DELAY, seconds=0.2))) == BODY
    assert time.monotonic() - start >= 0.2


def test_a_sliced_message_is_whole_at_the_end(through):
    connection = through(*[Fault(FaultKind.SLICE, 7)] * 2)
    assert put(connection) == BODY
    assert put(connection, b"short") == b"short"


def test_slices_come_one_by_one(network):
    """A hundred pauses: whoever reads meanwhile does not get all at once, however late it is."""
    request = b"GET /%s HTTP/1.1\r\n\r\n" % (b"a" * 1000)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        address = network.link(f"http://127.0.0.1:{port}", listed([Fault(FaultKind.SLICE, 10)]))
        link = urlsplit(address)
        with socket.create_connection((link.hostname, link.port)) as client:
            client.sendall(request)
            connection, _ = server.accept()
            with connection:
                parts, received = 0, b""
                while len(received) < len(request):
                    received += connection.recv(1 << 16)
                    parts += 1
    assert received == request
    assert parts > 1


def test_a_duplicate_is_the_same_request_twice_and_one_answer(through, echo):
    connection = through(Fault(FaultKind.DUPLICATE))
    assert put(connection) == BODY
    until(lambda: echo.received == [BODY, BODY])
    assert put(connection, b"next") == b"next"


def test_a_server_that_is_down_shows_as_an_error_until_it_is_back(network):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    connection = HTTPConnection(
        urlsplit(network.link(f"http://127.0.0.1:{port}", no_faults)).netloc, timeout=10
    )
    with pytest.raises(GONE):
        put(connection)
    connection.close()


def test_the_witness_sees_what_left_and_what_was_acknowledged(through, witness):
    ada = Slot("ada", 3)
    connection = through(Fault(FaultKind.CUT_REQUEST, 1000))
    with pytest.raises(GONE):
        put(connection)
    connection.close()
    until(lambda: ada in witness.slots)
    assert witness.acknowledged == set()
    put(connection)
    assert witness.acknowledged == {ada}
    assert witness.second_releases == []
    put(connection, BODY[:-1] + b"!")
    assert witness.second_releases == [ada]


def test_the_same_seed_gives_the_same_faults():
    def draw(seed: int) -> list[Fault | None]:
        plan = by_chance(Random(seed), 0.5)
        return [plan(None) for _ in range(50)]

    assert draw(1) == draw(1) != draw(2)
    assert {any_fault(Random(seed)).kind for seed in range(100)} == set(FaultKind)
