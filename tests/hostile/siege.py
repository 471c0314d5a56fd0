"""The long form of the flood: as many connections as are asked for, all at one aggregator.

Some hundred of them are clients that ask for a task and wait for it; all the others say nothing.
"""

import asyncio
import resource
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.hostile.flood import CLOSE, NONSENSE, RUN, Crowd, Target, head_of, talk, target

LONGEST_ANSWER_SECONDS = 60.0
OWN_FILES = 256
"""Of the aggregator, and of whoever lays siege, beside connections."""
MEBIBYTES = 256.0
"""That the crowd may cost the aggregator."""


def allow_files(count: int) -> None:
    """For as many connections of this process, and of those that it starts."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        raise SystemExit(f"{count} open files are needed and {hard} allowed: see `ulimit -Hn`")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@dataclass(frozen=True)
class Size:
    """Settings of the aggregator, clients that have joined, and requests without a credential.
    While all are there a simple question is answered within `calm_seconds`."""

    waiting: int = 300
    most_connections: int = 1000
    clients: int = 360
    unknown: int = 2000
    calm_seconds: float = 2.0


@dataclass
class Siege:
    """What was tried, and what came of it."""

    connections: int
    size: Size = Size()
    polls: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    nonsense: dict[str, str] = field(default_factory=dict)
    unknown_cpu_ms: float = 0.0
    most_files: int = 0
    mebibytes: list[float] = field(default_factory=list)
    control_seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def silent(self) -> int:
        """Connections that say nothing."""
        return self.connections - self.size.clients

    async def lay(self) -> None:
        allow_files(self.connections + OWN_FILES)
        settings = {
            "most_waiting": self.size.waiting,
            "most_connections": self.size.most_connections,
        }
        with tempfile.TemporaryDirectory() as folder:
            async with target(Path(folder), self.size.clients, **settings) as found:
                await self.assail(found)

    async def assail(self, found: Target) -> None:
        self._weigh(found)
        await self._send_the_unknown(found)
        await found.control_seconds(1)
        async with Crowd() as waiting:
            clients = found.bench.clients
            await waiting.send(found, (found.poll_of(client, 30) for client in clients))
            self.polls = dict(await waiting.answers(LONGEST_ANSWER_SECONDS, self.size.waiting))
            self._weigh(found)
            async with Crowd() as others:
                await others.send(found, (b"" for _ in range(self.silent)))
                self._weigh(found)
                self.control_seconds = await found.control_seconds(100)
                self.others = dict(
                    await others.answers(LONGEST_ANSWER_SECONDS, self.size.most_connections)
                )
                self._weigh(found)
        await self._talk_nonsense(found)
        self.judge(await found.statuses())

    def _weigh(self, found: Target) -> None:
        weight = found.weight
        self.most_files = max(self.most_files, weight.files)
        self.mebibytes.append(round(weight.mebibytes, 1))

    async def _send_the_unknown(self, found: Target) -> None:
        before = found.weight.cpu_seconds
        for _ in range(self.size.unknown):
            status = (await found.process.http.get(RUN)).status_code
            self._expect(status == 401, f"{status} for somebody unknown")
        taken = found.weight.cpu_seconds - before
        self.unknown_cpu_ms = round(1000 * taken / self.size.unknown, 2)

    async def _talk_nonsense(self, found: Target) -> None:
        async with asyncio.timeout(LONGEST_ANSWER_SECONDS):
            while (await talk(found, head_of("GET", "/livez", **CLOSE)))[0] != "200":
                await asyncio.sleep(0.1)
        for what, (octets, expected) in NONSENSE.items():
            status, _ = await talk(found, octets)
            self.nonsense[what] = status
            self._expect(status == expected, f"{status} for {what}")

    def judge(self, statuses: Counter[str]) -> None:
        refused = self.size.clients - self.size.waiting
        self._expect(
            self.polls == {"waits": self.size.waiting, "503": refused}, f"polls {self.polls}"
        )
        most_files = 2 * self.size.most_connections + OWN_FILES
        held = self.others.get("waits", 0)
        self._expect(held <= self.size.most_connections, f"{held} that say nothing are held")
        cut_off = self.others.get("cut off", 0)
        self._expect(cut_off == self.silent - held, f"others {self.others}")
        slowest = max(self.control_seconds)
        self._expect(slowest < self.size.calm_seconds, f"{slowest:.1f} s for a simple question")
        grown = max(self.mebibytes) - self.mebibytes[0]
        self._expect(grown < MEBIBYTES, f"{grown:.0f} MiB more than before")
        self._expect(self.most_files < most_files, f"{self.most_files} files")
        self._expect(not statuses["500"], f"{statuses['500']} crashes")

    def _expect(self, is_right: bool, else_: str) -> None:
        if not is_right:
            self.wrong.append(else_)

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    def lines(self) -> list[str]:
        size, slowest = self.size, max(self.control_seconds)
        return [
            f"{size.clients} clients ask for a task, {size.waiting} may wait: {dict(self.polls)}",
            f"{self.silent} more connections that say nothing, "
            f"{size.most_connections} may be held: {dict(self.others)}",
            f"/livez meanwhile: slowest of {len(self.control_seconds)} {slowest * 1000:.0f} ms",
            f"file descriptors of the aggregator: at most {self.most_files}",
            f"its memory in MiB, from before to the end: {self.mebibytes}",
            f"{size.unknown} requests without a credential: 401, {self.unknown_cpu_ms} CPU ms each",
            f"nonsense: {self.nonsense}",
            f"wrong: {self.wrong or 'nothing'}",
        ]
