"""Receiving a body: in batches, with a limit on how long its sender may pause, of exact length."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

from fedperm.errors import BodyError

BATCH_BYTES = 1 << 20
"""Bytes that are collected before a store writes them."""


async def batches(body: AsyncIterator[bytes], idle_seconds: float) -> AsyncIterator[bytes]:
    """The body in pieces worth a write, or a BodyError if nothing arrives for `idle_seconds`."""
    waiting: list[bytes] = []
    length = 0
    while True:
        try:
            chunk = await asyncio.wait_for(anext(body, None), idle_seconds)
        except TimeoutError:
            raise BodyError(
                f"nothing of the body came for {idle_seconds:g} s", "send the same bytes again"
            ) from None
        if chunk is not None:
            waiting.append(chunk)
            length += len(chunk)
        if chunk is None or length >= BATCH_BYTES:
            yield b"".join(waiting)
            waiting, length = [], 0
        if chunk is None:
            return


class ExactHash:
    """The SHA-256 of exactly `size` bytes: refuses more at once, and fewer in the end."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._seen = 0
        self._hash = hashlib.sha256()

    def update(self, data: bytes) -> None:
        self._seen += len(data)
        if self._seen > self._size:
            raise self._wrong_length()
        self._hash.update(data)

    def digest(self) -> str:
        """In hexadecimal."""
        if self._seen != self._size:
            raise self._wrong_length()
        return self._hash.hexdigest()

    def _wrong_length(self) -> BodyError:
        return BodyError(
            f"the body does not have the {self._size:,} octets announced", "send it whole"
        )
