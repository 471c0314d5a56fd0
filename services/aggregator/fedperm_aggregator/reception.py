"""Where bodies arrive: in a file of their own, which is gone unless somebody keeps it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fedperm.errors import BodyError
from fedperm_aggregator.blobs import Blobs
from fedperm_aggregator.incoming import Body, receive


@dataclass(frozen=True)
class Received:
    """Octets on disk under a temporary name."""

    path: Path
    sha256: str

    def check(self, sha256: str, origin: str) -> None:
        if self.sha256 != sha256:
            raise BodyError(f"the SHA-256 of the body is not {origin}", "send it again, unchanged")


class Reception:
    def __init__(self, blobs: Blobs, idle_seconds: float) -> None:
        self._blobs = blobs
        self._idle_seconds = idle_seconds

    @asynccontextmanager
    async def receive(self, body: Body, size: int) -> AsyncIterator[Received]:
        path = self._blobs.temporary()
        try:
            yield Received(path, await receive(body, path, size, self._idle_seconds))
        finally:
            await asyncio.shield(asyncio.to_thread(self._blobs.remove, path))
