"""Blinding factors r^n mod n^2: where they come from, and a pool that fills in idle time.

A factor is an encryption of zero that belongs to no message yet. It must be used once: two
ciphertexts with the same factor show the difference of their messages. So the pool lives in
memory only, cannot be pickled or copied, and is empty in a forked child.
"""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from threading import Event, Lock
from typing import NoReturn, Protocol
from weakref import WeakSet

from gmpy2 import mpz

from fedperm.errors import ParameterError
from fedperm.schemes.paillier.public_key import PublicKey


class BlindingSource(Protocol):
    """Makes uniform blinding factors for one public key."""

    @property
    def public_key(self) -> PublicKey: ...

    def draw(self, randomness: Random) -> mpz: ...


class PublicBlinding:
    """For those who do not know p and q: one full exponentiation per factor."""

    def __init__(self, public_key: PublicKey) -> None:
        self.public_key = public_key

    def draw(self, randomness: Random) -> mpz:
        return self.public_key.blinding_factor(self.public_key.draw_unit(randomness))


_pools: WeakSet["BlindingPool"] = WeakSet()


def _empty_all_pools() -> None:
    for pool in _pools:
        pool._start_empty()


os.register_at_fork(after_in_child=_empty_all_pools)


class BlindingPool:
    """Factors made ahead of time; each leaves the pool once."""

    def __init__(self, source: BlindingSource, randomness: Random) -> None:
        self._source = source
        self._randomness = randomness
        self._start_empty()
        _pools.add(self)

    @property
    def public_key(self) -> PublicKey:
        return self._source.public_key

    def __len__(self) -> int:
        return len(self._factors)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pool of blinding factors cannot be copied: each factor is used once")

    def fill(self, count: int) -> None:
        """Adds `count` fresh factors."""
        self._check_count(count)
        for _ in range(count):
            factor = self._source.draw(self._randomness)
            with self._lock:
                self._factors.append(factor)

    def take(self, count: int) -> list[mpz]:
        """Removes `count` factors; makes on the spot what the pool does not hold."""
        self._check_count(count)
        with self._lock:
            ready = min(count, len(self._factors))
            factors = [self._factors.popleft() for _ in range(ready)]
        factors.extend(self._source.draw(self._randomness) for _ in range(count - ready))
        return factors

    @contextmanager
    def filling(self, target: int) -> Iterator[None]:
        """Keeps filling up to `target` in a background thread until the block is left; what went
        wrong in the thread is raised there."""
        stop = Event()
        with ThreadPoolExecutor(1, "blinding-pool") as thread:
            filler = thread.submit(self._fill_until, target, stop)
            try:
                yield
            finally:
                stop.set()
        filler.result()

    def _fill_until(self, target: int, stop: Event) -> None:
        while not stop.is_set():
            if len(self) < target:
                self.fill(1)
            else:
                stop.wait(0.05)

    def _start_empty(self) -> None:
        """Also in a forked child: the parent will use the factors that the fork copied, and a
        thread of the parent may have held the lock."""
        self._factors: deque[mpz] = deque()
        self._lock = Lock()

    @staticmethod
    def _check_count(count: int) -> None:
        if count < 0:
            raise ParameterError(f"{count} blinding factors", "ask for 0 or more")
