"""The probe of containers' health checks, against a real small server with TLS."""

import http.server
import socketserver
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from fedperm.web import probe
from tests.keyserver.certificates import write_certificate

HEAVY = ("fastapi", "pydantic", "sqlalchemy", "uvicorn", "numpy", "httpx")


class Answers(http.server.BaseHTTPRequestHandler):
    """/200 answers 200, and so on."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """For 127.0.0.1 alone; it is its own CA."""
    return write_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def tls_port(certificate) -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.handle_error = lambda *_: None  # refused handshakes are what these tests make
    with serving(server) as port:
        yield port


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fedperm.web.probe", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def test_a_healthy_server_is_healthy_and_nothing_is_said(tls_port, certificate):
    done = run(f"https://127.0.0.1:{tls_port}/200", certificate[0])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_tls_as_well():
    with serving(http.server.HTTPServer(("127.0.0.1", 0), Answers)) as port:
        assert probe.main([f"http://127.0.0.1:{port}/200"]) == 0
        assert probe.main([f"http://127.0.0.1:{port}/302"]) == 1


def test_any_other_answer_is_no_health(tls_port, certificate):
    done = run(f"https://127.0.0.1:{tls_port}/503", certificate[0])
    assert done.returncode == 1
    assert done.stderr == f"https://127.0.0.1:{tls_port}/503 answers 503\n"


def test_a_certificate_for_another_name_is_refused(tls_port, certificate, capsys):
    assert probe.main([f"https://localhost:{tls_port}/200", str(certificate[0])]) == 1
    assert "not valid for 'localhost'" in capsys.readouterr().err


def test_a_certificate_of_another_authority_is_refused(tls_port, tmp_path, capsys):
    other, _ = write_certificate(tmp_path)
    url = f"https://127.0.0.1:{tls_port}/200"
    for arguments in ([url], [url, str(other)]):
        assert probe.main(arguments) == 1
        assert "certificate verify failed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["http://127.0.0.1:1/200"],
        ["https://127.0.0.1:1/200", "/nonexistent/ca.pem"],
        ["ftp://127.0.0.1/200"],
        ["127.0.0.1:8441/readyz"],
        ["http://127.0.0.1:many/200"],
        [],
        ["http://127.0.0.1:1/", "ca", "more"],
    ],
    ids=str,
)
def test_whatever_is_wrong_is_said_in_one_line(arguments, capsys):
    assert probe.main(arguments) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


class Silent(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.wait_for_the_end()

    def wait_for_the_end(self) -> None:
        while self.request.recv(1024):
            pass


class Dripping(Silent):
    """An octet now and then: no single one is late."""

    def handle(self) -> None:
        with suppress(OSError):
            while True:
                self.request.sendall(b"H")
                time.sleep(0.02)


class NotHttp(Silent):
    def handle(self) -> None:
        self.request.sendall(b"SSH-2.0-something\r\n")
        self.wait_for_the_end()


@pytest.mark.parametrize("handler", [Silent, Dripping, NotHttp])
def test_whoever_does_not_answer_in_time_or_in_http_is_not_waited_for(handler, monkeypatch, capsys):
    monkeypatch.setattr(probe, "SECONDS", 0.3)
    with serving(socketserver.TCPServer(("127.0.0.1", 0), handler)) as port:
        assert probe.main([f"http://127.0.0.1:{port}/200"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_it_imports_nothing_heavy():
    """It runs every few seconds in every container."""
    code = f"import sys, fedperm.web.probe; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
