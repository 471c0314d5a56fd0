"""`python -m fedperm.web.probe URL [CA_FILE]`: exit code 0 if the URL answers 200 within 3 seconds,
else 1 and a line that says why.

For the health checks of containers, which have no curl. It runs every few seconds, so it imports
nothing but Python's own, and no more of that than it needs (`plain_text` imports nothing).
"""

import signal
import ssl
import sys
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import FrameType
from urllib.parse import SplitResult, urlsplit

from fedperm.plain_text import one_line

SECONDS = 3.0


def what_is_wrong(
    url: str, ca_file: str | None = None, *, timeout_seconds: float | None = None
) -> str | None:
    """None if all is well. The certificate must be by the CA, and for the name in the URL."""
    try:
        status = _status(urlsplit(url), ca_file, timeout_seconds)
    except (OSError, HTTPException, ValueError) as error:
        return one_line(f"{url}: {type(error).__name__}: {' '.join(str(error).split())}")
    return None if status == 200 else f"{url} answers {status}"


def _status(url: SplitResult, ca_file: str | None, timeout_seconds: float | None) -> int:
    connection = _connection(url, ca_file)
    connection.timeout = timeout_seconds
    try:
        connection.request("GET", url.path or "/")
        return connection.getresponse().status
    finally:
        connection.close()


def _connection(url: SplitResult, ca_file: str | None) -> HTTPConnection:
    if url.hostname is None or url.scheme not in {"http", "https"}:
        raise ValueError("not an http or https URL")
    if url.scheme == "http":
        return HTTPConnection(url.hostname, url.port)
    context = ssl.create_default_context(cafile=ca_file)
    return HTTPSConnection(url.hostname, url.port, context=context)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"no answer within {SECONDS:g} seconds")


def main(arguments: list[str]) -> int:
    """The time is that of the whole answer: a socket's limit would count from octet to octet."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write("usage: python -m fedperm.web.probe URL [CA_FILE]\n")
        return 1
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    wrong = what_is_wrong(*arguments)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if wrong is not None:
        sys.stderr.write(f"{wrong}\n")
    return 0 if wrong is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
