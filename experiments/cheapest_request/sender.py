"""Somebody who sends requests as fast as they are answered, and an onlooker. Both use sockets and
nothing else: what they take of a processor is what an attacker needs."""

import socket
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

SECONDS = 30.0
_LIVE = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

Address = tuple[str, int]


@dataclass(frozen=True)
class Sent:
    """How many requests were answered with which status, and what sending them took."""

    statuses: dict[int, int]
    cpu_seconds: float
    seconds: float

    @property
    def count(self) -> int:
        return sum(self.statuses.values())


class Caller:
    """One connection; a new one if the other end has closed it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: socket.socket | None = None

    def ask(self, request: bytes) -> int:
        """The status; the answer is read to its end."""
        if self._connection is None:
            self._connection = socket.create_connection(self._address, SECONDS)
        self._connection.sendall(request)
        answer = bytearray()
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self._more()
        head = bytes(answer[:end]).lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        left = (int(length) if length else 0) - (len(answer) - end - 4)
        while left > 0:
            left -= len(self._more())
        if b"connection: close" in head:
            self.close()
        return int(head[9:12])

    def _more(self) -> bytes:
        assert self._connection is not None  # noqa: S101
        octets = self._connection.recv(1 << 16)
        if not octets:
            raise ConnectionError("closed in the middle of an answer")
        return octets

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def send_all(address: Address, requests: Sequence[bytes]) -> Sent:
    """One after the other on one connection."""
    caller, statuses = Caller(address), Counter[int]()
    start, used = time.perf_counter(), time.process_time()
    for request in requests:
        statuses[caller.ask(request)] += 1
    sent = Sent(dict(statuses), time.process_time() - used, time.perf_counter() - start)
    caller.close()
    return sent


def flood(address: Address, requests: Sequence[bytes], connections: int, until: float) -> Sent:
    """On so many connections, each as fast as it is answered, until a time of `time.time`."""

    def one() -> Counter[int]:
        caller, statuses = Caller(address), Counter[int]()
        while time.time() < until:
            for request in requests:
                statuses[caller.ask(request)] += 1
                if time.time() >= until:
                    break
        caller.close()
        return statuses

    start, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(connections) as crowd:
        statuses = sum(
            (done.result() for done in [crowd.submit(one) for _ in range(connections)]),
            Counter[int](),
        )
    return Sent(dict(statuses), time.process_time() - used, time.perf_counter() - start)


def median_livez_seconds(address: Address, until: float, pause: float = 0.01) -> float:
    """Asked again and again until then, on a connection that was there before."""
    caller, taken = Caller(address), list[float]()
    while time.time() < until or not taken:
        start = time.perf_counter()
        caller.ask(_LIVE)
        taken.append(time.perf_counter() - start)
        time.sleep(pause)
    caller.close()
    return median(taken)


def take_without_reading(address: Address, connections: int, request: bytes) -> list[socket.socket]:
    """Each asks again and again for a long answer and reads nothing of any."""
    held = []
    for _ in range(connections):
        held.append(unread := socket.socket())
        unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        unread.settimeout(SECONDS)
        unread.connect(address)
        unread.sendall(request * 20)
    return held


def seconds_until_admitted(address: Address, most: float) -> float:
    """Until a newcomer's /livez is 200."""
    start = time.perf_counter()
    while time.perf_counter() - start < most:
        try:
            newcomer = Caller(address)
            if newcomer.ask(_LIVE) == 200:
                newcomer.close()
                return time.perf_counter() - start
        except OSError:
            pass
        time.sleep(0.05)
    return most
