"""Receiving a body: streamed to a file and hashed on the way, in threads, never whole in memory."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from fedperm.crash_points import persisting
from fedperm.durable_file import settle
from fedperm.errors import BodyError

Body = AsyncIterator[bytes]
BATCH = 1 << 20
"""Octets that are collected before a thread writes them."""


async def receive(body: Body, path: Path, size: int, idle_seconds: float) -> str:
    """The SHA-256 of exactly `size` octets, which are on disk then; whoever calls removes the
    file if this fails."""
    file = await asyncio.to_thread(_create, path)
    sink = Sink(file, size)
    try:
        async for batch in _batches(_brisk(body, idle_seconds)):
            await asyncio.to_thread(sink.write, batch)
        return await asyncio.to_thread(sink.finish)
    finally:
        await asyncio.to_thread(file.close)


class Sink:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._seen = 0
        self._hash = hashlib.sha256()

    @persisting
    def write(self, octets: bytes) -> None:
        self._seen += len(octets)
        if self._seen > self._size:
            raise _of_another_length(self._size)
        self._hash.update(octets)
        self._file.write(octets)

    @persisting
    def finish(self) -> str:
        if self._seen != self._size:
            raise _of_another_length(self._size)
        settle(self._file)
        return self._hash.hexdigest()


def _create(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


async def _brisk(body: Body, idle_seconds: float) -> Body:
    """The chunks, or a refusal if one is too long in coming."""
    while True:
        try:
            chunk = await asyncio.wait_for(anext(body, None), idle_seconds)
        except TimeoutError:
            raise BodyError(
                f"nothing of the body came for {idle_seconds:g} s", "send the same bytes again"
            ) from None
        if chunk is None:
            return
        yield chunk


async def _batches(body: Body) -> Body:
    waiting: list[bytes] = []
    length = 0
    async for chunk in body:
        waiting.append(chunk)
        length += len(chunk)
        if length >= BATCH:
            yield b"".join(waiting)
            waiting, length = [], 0
    yield b"".join(waiting)


def _of_another_length(size: int) -> BodyError:
    return BodyError(f"the body does not have the {size:,} octets announced", "send it whole")
