"""What a server has answered, to be held against what it says later."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from fedperm.errors import RefusedError

Check = Callable[[], Awaitable[bool]]


@dataclass
class Promises:
    made: dict[str, Check] = field(default_factory=dict)

    def add(self, what: str, check: Check) -> None:
        self.made[what] = check

    async def broken(self) -> list[str]:
        return [what for what, check in self.made.items() if not await _holds(check)]


async def _holds(check: Check) -> bool:
    try:
        return await check()
    except RefusedError:
        return False
