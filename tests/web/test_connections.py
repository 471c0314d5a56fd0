"""Connections are held for whoever has something to say, and not more of them than agreed."""

import json
import resource
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Event, Thread

import pytest

from fedperm.web.connections import REFUSED_SECONDS, ConnectionLimits, guarded
from fedperm.web.proxies import TrustedProxies
from tests.keyserver.certificates import write_certificate
from tests.web.edge import edge_service
from tests.web.test_serving import PATIENCE_SECONDS, _handlers_as_before, while_serving

__all__ = ["_handlers_as_before"]

HASTY = ConnectionLimits(most=4, head_seconds=1.0, left_over_seconds=1.0)
LIVE = b"GET /livez HTTP/1.1\r\nHost: edge\r\n\r\n"


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[socket.socket]:
    with socket.create_connection(address, PATIENCE_SECONDS) as connection:
        yield connection


def status_of(connection: socket.socket) -> int:
    """Of the next answer, which is read to its end."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def is_alive(connection: socket.socket) -> bool:
    connection.sendall(LIVE)
    return status_of(connection) == 200


def drip_until_cut(connection: socket.socket, octet: bytes) -> float:
    """Sends one octet after the other until the other end has had enough: after how long."""
    connection.settimeout(0.02)
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE_SECONDS:
        try:
            connection.sendall(octet)
            if not connection.recv(4096):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - start


def visiting(folder: Path, work, limits: ConnectionLimits = HASTY, **options) -> None:
    while_serving(edge_service(), folder, work, limits=limits, **options)


@pytest.mark.parametrize("before", [b"", b"GET /livez HTTP/1.1\r\nHost: e", LIVE + b"GET /"])
def test_a_head_that_does_not_come_is_not_waited_for(tmp_path: Path, before: bytes):
    """Neither the first one of a connection nor a later one; dripping does not help."""

    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            connection.sendall(before)
            assert drip_until_cut(connection, b"x" if before else b"") < PATIENCE_SECONDS / 2

    visiting(tmp_path, work)


def test_between_two_requests_there_is_time(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            assert is_alive(connection)
            time.sleep(2 * HASTY.head_seconds)
            assert is_alive(connection)

    visiting(tmp_path, work)


def test_an_answer_may_take_longer_than_a_head(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            connection.sendall(b"GET /slow?seconds=1.5 HTTP/1.1\r\nHost: edge\r\n\r\n")
            assert status_of(connection) == 200
            assert is_alive(connection)

    visiting(tmp_path, work)


def test_the_rest_of_a_refused_body_is_not_taken_for_ever(tmp_path: Path):
    """An honest sender of a wrong body still gets its answer, and keeps its connection."""
    head = b"PUT /nowhere HTTP/1.1\r\nHost: edge\r\nContent-Length: %d\r\n\r\n"

    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            connection.sendall(head % 10 + b"0123456789")
            assert status_of(connection) == 404
            assert is_alive(connection)
            connection.sendall(head % (1 << 40))
            assert status_of(connection) == 413
            assert drip_until_cut(connection, b"x" * 1000) < PATIENCE_SECONDS / 2

    visiting(tmp_path, work)


CHUNKED = b"Host: edge\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("path", [b"/things", b"/nowhere", b"/bulk/a"])
def test_a_body_that_breaks_off_into_nonsense_is_no_failure_of_ours(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: bytes
):
    """Whether somebody reads it, or it was refused before."""

    def work(address: tuple[str, int]) -> None:
        for pause in (0.0, 0.2):
            with connected(address) as connection:
                connection.sendall(b"PUT %s HTTP/1.1\r\n" % path + CHUNKED + b"1\r\n{\r\n")
                time.sleep(pause)
                connection.sendall(b"zz\r\n")
                while connection.recv(4096):
                    pass
        _until_alive(address)

    visiting(tmp_path, work)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_one_connection_too_many_is_told_so_and_far_too_many_are_cut_off(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with ExitStack() as stack:
            held = [stack.enter_context(connected(address)) for _ in range(HASTY.most)]
            assert all(is_alive(connection) for connection in held)
            _told_to_wait(stack.enter_context(connected(address)))
            crowd = [stack.enter_context(connected(address)) for _ in range(12)]
            assert sum(_is_cut_off(connection) for connection in crowd) >= 10
            assert all(is_alive(connection) for connection in held)
        _until_alive(address)

    visiting(tmp_path, work)


BOTH_LENGTHS = (
    b"PUT /things HTTP/1.1\r\nHost: edge\r\nContent-Type: application/json\r\n"
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
)


def test_after_two_lengths_the_connection_is_closed(tmp_path: Path):
    """Where the next request begins is in doubt: what looks like one is not answered."""

    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            connection.sendall(BOTH_LENGTHS + LIVE)
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
            assert answer.startswith(b"HTTP/1.1 422")
            assert answer.count(b"HTTP/1.1") == 1

    visiting(tmp_path, work)


LONG = b"GET /long?octets=%d HTTP/1.1\r\nHost: edge\r\n\r\n"
UNREAD = ConnectionLimits(most=1, unread_seconds=1.0)


@contextmanager
def narrow(address: tuple[str, int], tls: bool) -> Iterator[socket.socket]:
    """A connection that takes a few kilobytes, and then only what is read."""
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        plain.settimeout(PATIENCE_SECONDS)
        plain.connect(address)
        if not tls:
            yield plain
            return
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        with trusting.wrap_socket(plain) as connection:
            yield connection


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("octets", [50_000, 5_000_000], ids=["in the kernel", "beyond it"])
def test_whoever_does_not_read_an_answer_loses_the_place(tmp_path: Path, octets: int, tls: bool):
    """There is one, so that a newcomer has to wait for it, and gets it long before an idle
    connection is closed."""

    def work(address: tuple[str, int]) -> None:
        with narrow(address, tls) as unread:
            unread.sendall(LONG % octets)
            _until_alive(address, tls)

    options = {}
    if tls:
        certificate, key = write_certificate(tmp_path)
        options = {"tls_certificate": certificate, "tls_key": key}
    visiting(tmp_path, work, UNREAD, **options)


def test_whoever_reads_an_answer_drop_by_drop_loses_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Also where the kernel does not look after it."""
    monkeypatch.delattr(socket, "TCP_USER_TIMEOUT", raising=False)
    enough = Event()

    def drip(unread: socket.socket) -> None:
        with suppress(OSError):
            while not enough.wait(0.05) and unread.recv(1 << 8):
                pass

    def work(address: tuple[str, int]) -> None:
        with narrow(address, tls=False) as unread:
            unread.sendall(LONG % 5_000_000)
            dripping = Thread(target=drip, args=(unread,))
            dripping.start()
            try:
                _until_alive(address)
            finally:
                enough.set()
                dripping.join()

    visiting(tmp_path, work, UNREAD)


def test_whoever_reads_slowly_gets_the_whole_answer(tmp_path: Path):
    """It takes longer than the time in which something must be read."""
    octets = 400_000

    def work(address: tuple[str, int]) -> None:
        with narrow(address, tls=False) as slow:
            slow.sendall(LONG % octets)
            got, start = 0, time.monotonic()
            while got < octets:
                chunk = slow.recv(1 << 13)
                assert chunk, f"cut off after {got}"
                got += len(chunk)
                time.sleep(0.03)
            assert time.monotonic() - start > UNREAD.unread_seconds

    visiting(tmp_path, work, UNREAD)


FEW_STRANGERS = ConnectionLimits(most=50, most_strangers=4)
MINE = (
    b"PUT /my-things HTTP/1.1\r\nHost: edge\r\nAuthorization: Bearer abc\r\n"
    b'Content-Type: application/json\r\nContent-Length: 23\r\n\r\n{"count":1,"share":2.0}'
)


def test_strangers_of_one_address_do_not_take_all_places(tmp_path: Path):
    """Whoever has shown a credential is none, as long as the connection lasts."""

    def work(address: tuple[str, int]) -> None:
        with ExitStack() as stack:
            known = [stack.enter_context(connected(address)) for _ in range(4)]
            for connection in known:
                connection.sendall(MINE)
                assert status_of(connection) == 200
            strangers = [stack.enter_context(connected(address)) for _ in range(4)]
            assert all(is_alive(connection) for connection in strangers)
            _told_to_wait(stack.enter_context(connected(address)))
            assert all(is_alive(connection) for connection in (*known, *strangers))
            strangers[0].sendall(MINE)
            assert status_of(strangers[0]) == 200
            _until_alive(address)
        _until_alive(address)

    visiting(tmp_path, work, FEW_STRANGERS)


def test_behind_a_proxy_everybody_has_one_address_and_none_is_counted(tmp_path: Path):
    def work(address: tuple[str, int]) -> None:
        with ExitStack() as stack:
            crowd = [stack.enter_context(connected(address)) for _ in range(20)]
            assert all(is_alive(connection) for connection in crowd)

    proxies = TrustedProxies.named("127.0.0.0/8")
    visiting(tmp_path, work, FEW_STRANGERS, proxies=proxies)


FORWARDED = (
    b"GET /address HTTP/1.1\r\nHost: edge\r\nX-Forwarded-For: 198.51.100.1, 203.0.113.9\r\n"
    b"X-Forwarded-Proto: https\r\n\r\n"
)


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [
        ("", b'"127.0.0.1 http"'),
        ("10.0.0.0/8", b'"127.0.0.1 http"'),
        ("127.0.0.1", b'"203.0.113.9 https"'),
        ("127.0.0.0/8, 203.0.113.9", b'"198.51.100.1 https"'),
    ],
)
def test_only_a_trusted_proxy_says_whose_request_it_is(tmp_path: Path, proxies: str, seen: bytes):
    """The last address that is no proxy's: what stands before it may be anybody's invention."""

    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            connection.sendall(FORWARDED)
            answer = HTTPResponse(connection)
            answer.begin()
            assert answer.read() == seen

    visiting(tmp_path, work, proxies=TrustedProxies.named(proxies))


def test_an_upgrade_is_answered_once_and_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    upgrade = LIVE[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    def work(address: tuple[str, int]) -> None:
        with connected(address) as connection:
            for _ in range(3):
                connection.sendall(upgrade)
                assert status_of(connection) == 200

    visiting(tmp_path, work)
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


def _told_to_wait(connection: socket.socket) -> None:
    connection.sendall(LIVE)
    answer = b""
    while chunk := connection.recv(4096):
        answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert b"application/problem+json" in head
    assert b"retry-after: 1" in head.lower()
    problem = json.loads(body)
    assert problem["type"] == "urn:fedperm:problem:busy"
    assert problem["request_id"].encode() in head


def _is_cut_off(connection: socket.socket) -> bool:
    """Without a word, and before the time of those who are told is up."""
    connection.settimeout(0.75 * REFUSED_SECONDS)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def _until_alive(address: tuple[str, int], tls: bool = False) -> None:
    """When the others have left there is room again."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with narrow(address, tls) as connection:
            try:
                if is_alive(connection):
                    return
            except (OSError, HTTPException):
                continue
    raise AssertionError("no room though everybody has left")


@pytest.fixture
def descriptors() -> Iterator[tuple[int, int]]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_there_are_no_more_connections_than_descriptors(descriptors: tuple[int, int], caplog):
    _, hard = descriptors
    assert guarded(ConnectionLimits(most=10)).limits.most == 10
    assert not caplog.records
    limits = guarded(ConnectionLimits(most=hard)).limits
    assert 1 <= limits.most < hard / 2
    assert "ulimit" in caplog.text
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
