"""Running collected tests, in this process or in a fork of it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest


class Runs:
    """Fixtures of the whole session are made once, in the first process, and are still there in
    its forks: no run of tests ends them, as if another test always came next."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = {item.nodeid: item for item in items}
        self.nodes = tuple(self._items)

    def warm_up(self) -> None:
        """One test of every file: whatever is made at its first use is then there for the forks."""
        firsts = {item.path: item.nodeid for item in reversed(self._items.values())}
        for _ in self.each(tuple(firsts.values())):
            pass

    def each(self, nodes: Sequence[str]) -> Iterator[str]:
        """Yields the name of each test after it was run."""
        items = [self._items[node] for node in nodes]
        for item, following in pairwise(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield item.nodeid
        if items:
            last = items[-1]
            last.config.hook.pytest_runtest_protocol(item=last, nextitem=self._elsewhere(last))
            yield last.nodeid

    def _elsewhere(self, item: pytest.Item) -> pytest.Item | None:
        """A test of another file, so that fixtures of this one's file are ended."""
        others = (other for other in self._items.values() if other.path != item.path)
        return next(others, None)
