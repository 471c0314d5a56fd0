"""Who is logged in. In memory: a session ends with the process, which reads the operator's token
or makes its links, so none outlives what opened it."""

import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass
from random import Random
from threading import Lock

from fedperm.clock import Clock
from fedperm.dashboard.entrance import Door, draw_secret
from fedperm.errors import ForbiddenError, UnauthenticatedError

MOST_SESSIONS = 100
"""At once; the oldest is ended first."""


@dataclass(frozen=True)
class Session:
    """`form_token` is known to the page and to no other site's."""

    form_token: str
    ends_at: float

    def check_form(self, given: str) -> None:
        if not hmac.compare_digest(given.encode(), self.form_token.encode()):
            raise ForbiddenError("this request is not from the page", "reload the page")


class Sessions:
    """Known by the hash of a secret that only the browser's cookie holds."""

    def __init__(self, door: Door, clock: Clock, randomness: Random, seconds: float) -> None:
        self._door = door
        self._clock = clock
        self._randomness = randomness
        self._open: OrderedDict[bytes, Session] = OrderedDict()
        self._lock = Lock()
        self.seconds = seconds

    def log_in(self, presented: str) -> str:
        """The secret of a new session, for whoever presents what opens the door."""
        self._door.check(presented)
        secret, ends_at = draw_secret(self._randomness), self._clock.now() + self.seconds
        with self._lock:
            self._open[_hash(secret)] = Session(draw_secret(self._randomness), ends_at)
            while len(self._open) > MOST_SESSIONS:
                self._open.popitem(last=False)
        return secret

    def find(self, secret: str) -> Session:
        session = self._open.get(_hash(secret))
        if session is None or self._clock.now() >= session.ends_at:
            raise UnauthenticatedError("nobody is logged in", "log in at /dashboard/login")
        return session

    def is_open(self, secret: str) -> bool:
        try:
            self.find(secret)
        except UnauthenticatedError:
            return False
        return True

    def log_out(self, secret: str) -> None:
        with self._lock:
            self._open.pop(_hash(secret), None)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
