"""A body that notes whether anybody has asked for it."""

from collections.abc import AsyncIterator


class Unread:
    def __init__(self, octets: bytes = b"{}") -> None:
        self.octets, self.is_read = octets, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.is_read = True
        yield self.octets
