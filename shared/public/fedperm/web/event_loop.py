"""An event loop that nobody can keep busy for long, and threads that let it have its turn.

asyncio handles all sockets that are ready before it looks at its clock, or at what threads have
done. When hundreds of clients speak in the same moment everything else would wait for all of them.
"""

import asyncio
import gc
import sys
from collections import deque
from selectors import DefaultSelector, SelectorKey

EVENTS_AT_ONCE = 4
"""Sockets that are dealt with in one turn of the loop: a request takes a millisecond or two."""

SWITCH_SECONDS = 0.0005
"""A thread that computes gives way after so long. The loop waits for the interpreter's lock after
every system call; with Python's own 5 ms a few busy threads would make it slow."""

COLLECTIONS = (700, 10, 1000)
"""Python's own but for the last: all objects are looked through a hundred times less often. With
hundreds of clients that takes almost a tenth of a second, nothing else runs meanwhile, and it finds
a few hundred objects. Everything else is freed at once, or with the young ones."""

Ready = tuple[SelectorKey, int]


class FewAtATime(DefaultSelector):
    """Tells of a few ready sockets at a time, in the order in which the kernel told of them."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Ready] = deque()

    def select(self, timeout: float | None = None) -> list[Ready]:
        if not self._waiting:
            self._waiting.extend(super().select(timeout))
        few = [self._waiting.popleft() for _ in range(min(EVENTS_AT_ONCE, len(self._waiting)))]
        return [ready for told in few if (ready := self._still(*told)) is not None]

    def _still(self, told: SelectorKey, events: int) -> Ready | None:
        """Meanwhile the socket may have been closed, or be watched for something else. A number
        that was given to another socket does no harm: asyncio finds that there is nothing yet."""
        key = self.get_map().get(told.fileobj)
        return None if key is None else (key, events & key.events)


def fair_loop() -> asyncio.AbstractEventLoop:
    """For a process that has loaded all that it will need."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTIONS)
    gc.collect()
    gc.freeze()  # modules and routes live for ever: to look through them again takes long
    return asyncio.SelectorEventLoop(FewAtATime())
