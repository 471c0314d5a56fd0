"""How a visitor gets in: by the operator's token, or by a link that opens once.

The aggregator holds the run operator's token, so that token must not open a page on the operator's
machine that shows what is sealed against the aggregator: there it takes a link.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from threading import Lock
from typing import Protocol

from fedperm.errors import UnauthenticatedError
from fedperm.web.credentials import OperatorCredential


class Door(Protocol):
    def check(self, presented: str) -> None:
        """Refuses whoever does not present what opens it."""


@dataclass(frozen=True)
class Entrance:
    """Its pages, by name, ask and refuse. Each kind has a cookie of its own: to a browser, servers
    on different ports of one machine are one."""

    door: Door
    page: str
    refusal: str
    cookie: str


def by_token(operator: OperatorCredential) -> Entrance:
    return Entrance(operator, "login.html", "login-refused.html", "fedperm-session")


def by_link(links: "LoginLinks") -> Entrance:
    return Entrance(links, "link.html", "link-refused.html", "fedperm-operator-session")


class LoginLinks:
    """One at a time. Whoever uses it gets in, and `tell` hears the secret of the next."""

    def __init__(self, randomness: Random, tell: Callable[[str], None]) -> None:
        self._randomness = randomness
        self._tell = tell
        self._lock = Lock()
        self._sha256 = b""
        self._renew()

    def check(self, presented: str) -> None:
        """Of a whole link, what stands after the #."""
        digest = _hash(presented.rpartition("#")[2])
        with self._lock:
            if not hmac.compare_digest(digest, self._sha256):
                raise UnauthenticatedError(
                    "this is not the newest login link", "use the one that was printed last"
                )
            self._renew()

    def _renew(self) -> None:
        secret = draw_secret(self._randomness)
        self._sha256 = _hash(secret)
        self._tell(secret)


def draw_secret(randomness: Random) -> str:
    return base64.urlsafe_b64encode(randomness.randbytes(32)).decode().rstrip("=")


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
