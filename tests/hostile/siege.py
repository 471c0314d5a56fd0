"""The long form of the flood: as many connections as are asked for, all at one aggregator."""

import asyncio
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.hostile.flood import CLOSE, NONSENSE, RUN, Crowd, Target, head_of, talk, target

WAITING, MOST_CONNECTIONS, CLIENTS = 300, 1000, 360
"""Settings of the aggregator, and clients that have joined."""
LONGEST_ANSWER_SECONDS = 60.0
UNKNOWN = 2000
"""Requests without a credential."""


@dataclass
class Siege:
    """What was tried, and what came of it."""

    connections: int
    polls: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    nonsense: dict[str, str] = field(default_factory=dict)
    unknown_cpu_ms: float = 0.0
    most_files: int = 0
    mebibytes: list[float] = field(default_factory=list)
    control_seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    async def lay(self) -> None:
        settings = {"most_waiting": WAITING, "most_connections": MOST_CONNECTIONS}
        with tempfile.TemporaryDirectory() as folder:
            async with target(Path(folder), CLIENTS, **settings) as found:
                await self._assail(found)

    async def _assail(self, found: Target) -> None:
        self._weigh(found)
        await self._send_the_unknown(found)
        await found.control_seconds(1)
        async with Crowd() as waiting:
            clients = found.bench.clients
            await waiting.send(found, (found.poll_of(client, 30) for client in clients))
            self.polls = dict(await waiting.answers(5.0, WAITING))
            self._weigh(found)
            async with Crowd() as others:
                silent = (b"" for _ in range(self.connections - CLIENTS))
                await others.send(found, silent)
                self._weigh(found)
                self.control_seconds = await found.control_seconds(100)
                self.others = dict(await others.answers(5.0))
                self._weigh(found)
        await self._talk_nonsense(found)
        self._judge(await found.statuses())

    def _weigh(self, found: Target) -> None:
        weight = found.weight
        self.most_files = max(self.most_files, weight.files)
        self.mebibytes.append(round(weight.mebibytes, 1))

    async def _send_the_unknown(self, found: Target) -> None:
        before = found.weight.cpu_seconds
        for _ in range(UNKNOWN):
            status = (await found.process.http.get(RUN)).status_code
            self._expect(status == 401, f"{status} for somebody unknown")
        taken = found.weight.cpu_seconds - before
        self.unknown_cpu_ms = round(1000 * taken / UNKNOWN, 2)

    async def _talk_nonsense(self, found: Target) -> None:
        async with asyncio.timeout(LONGEST_ANSWER_SECONDS):
            while (await talk(found, head_of("GET", "/livez", **CLOSE)))[0] != "200":
                await asyncio.sleep(0.1)
        for what, (octets, expected) in NONSENSE.items():
            status, _ = await talk(found, octets)
            self.nonsense[what] = status
            self._expect(status == expected, f"{status} for {what}")

    def _judge(self, statuses: Counter[str]) -> None:
        refused = CLIENTS - WAITING
        self._expect(self.polls == {"waits": WAITING, "503": refused}, f"polls {self.polls}")
        self._expect(self.most_files < 2 * MOST_CONNECTIONS, f"{self.most_files} files")
        self._expect(not statuses["500"], f"{statuses['500']} crashes")

    def _expect(self, is_right: bool, else_: str) -> None:
        if not is_right:
            self.wrong.append(else_)

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    def lines(self) -> list[str]:
        slowest = max(self.control_seconds)
        return [
            f"{CLIENTS} clients ask for a task, {WAITING} may wait: {dict(self.polls)}",
            f"{self.connections - CLIENTS} more connections that say nothing, "
            f"{MOST_CONNECTIONS} may be held: {dict(self.others)}",
            f"/livez meanwhile: slowest of {len(self.control_seconds)} {slowest * 1000:.0f} ms",
            f"file descriptors of the aggregator: at most {self.most_files}",
            f"its memory in MiB, from before to the end: {self.mebibytes}",
            f"{UNKNOWN} requests without a credential: 401, {self.unknown_cpu_ms} CPU ms each",
            f"nonsense: {self.nonsense}",
            f"wrong: {self.wrong or 'nothing'}",
        ]
