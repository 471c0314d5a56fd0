"""A brake for endpoints that guess-work would aim at: so many at once, then so many a second."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from fedperm.clock import Clock
from fedperm.errors import RateLimitError

_MOST_CALLERS = 10_000
"""Callers remembered; the one not seen for longest is forgotten first."""


@dataclass
class _Bucket:
    tokens: float
    at: float


@dataclass
class RateLimit:
    """A bucket of tokens per caller; each request takes one."""

    burst: int
    per_second: float
    clock: Clock
    _buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def take(self, caller: str) -> None:
        now = self.clock.now()
        with self._lock:
            bucket = self._buckets.pop(caller, None) or _Bucket(self.burst, now)
            elapsed = max(0.0, now - bucket.at)
            bucket.tokens = min(self.burst, bucket.tokens + elapsed * self.per_second)
            bucket.at = now
            self._buckets[caller] = bucket
            if len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
            if bucket.tokens < 1:
                wait = (1 - bucket.tokens) / self.per_second
                raise RateLimitError("too many requests", f"wait {wait:.1f} s", wait)
            bucket.tokens -= 1
