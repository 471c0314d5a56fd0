"""The laws of parsers, and a long search for octets that break them."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fedperm.errors import FedPermError
from tests.hostile.mangled import mangled
from tests.hostile.parsers import Parser

LONGEST_SECONDS = 1.0
"""Of CPU, for a few kilobytes."""
ATTEMPTS = 4
"""One may be the garbage collector's, or a busy machine's."""
IN_A_ROW = 500
SHOWN = 10


class LawBrokenError(AssertionError):
    """A parser did something else than to refuse in words or to understand."""


def read(parser: Parser, octets: bytes) -> bool:
    """Whether the octets were taken; a broken law is raised."""
    if all(_seconds(parser, octets) > LONGEST_SECONDS for _ in range(ATTEMPTS)):
        raise LawBrokenError(f"{parser} thinks too long about {octets[:200]!r}")
    try:
        result = parser.parse(octets)
    except FedPermError:
        return False
    except Exception as error:
        raise LawBrokenError(f"{parser}: {type(error).__name__} for {octets[:200]!r}") from error
    if parser.again is not None and parser.again(result) != octets:
        raise LawBrokenError(f"{parser}: a second way to write the same: {octets[:200]!r}")
    return True


def _seconds(parser: Parser, octets: bytes) -> float:
    start = time.thread_time()
    with suppress(Exception):
        parser.parse(octets)
    return time.thread_time() - start


@dataclass
class Search:
    """Octets read and taken by parser, and laws broken."""

    read: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def run(self, parsers: list[Parser], seconds: float, number: int) -> None:
        """In turns, until the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for parser in parsers:
                self._turn(parser, number)
            number += 1

    def _turn(self, parser: Parser, number: int) -> None:
        @seed(number)
        @settings(
            max_examples=IN_A_ROW,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(mangled(st.sampled_from(parser.right)) | st.binary(max_size=200))
        def attack(octets: bytes) -> None:
            self.read[parser.name] += 1
            try:
                self.taken[parser.name] += read(parser, octets)
            except LawBrokenError as error:
                self.broken.append(str(error))

        attack()

    def lines(self) -> Iterator[str]:
        yield f"{self.read.total():,} texts and bodies for {len(self.read)} parsers"
        for name, count in self.read.items():
            yield f"  {name}: {count:,} read, {self.taken[name]:,} of them right"
        yield f"laws broken: {len(self.broken)}"
        yield from self.broken[:SHOWN]

    def to_json(self) -> dict[str, Any]:
        return {"read": dict(self.read), "taken": dict(self.taken), "broken": self.broken}
