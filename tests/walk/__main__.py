"""`python -m tests.walk`: modules and functions of the product that a join, an upload and a
settlement pass, counted in a federation that lives in this process.

A module or function counts once, however often it is entered; a lambda or a comprehension counts
as a function. A join is from a new client's first request to its first question for a task, with
the release of its key. An upload is from training to the new model, with all that the aggregator
does in between; a settlement is its last part, from the client's question to the new model.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.client.federation import Federation, drive
from tests.keyserver.server import MovingClock

ROOT = Path(__file__).parents[2]
PRODUCT = (str(ROOT / "shared") + "/", str(ROOT / "services") + "/")


@dataclass
class Walk:
    """What was entered while `recording`."""

    entered: set[CodeType] = field(default_factory=set)
    is_on: bool = False

    def note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if self.is_on and event == "call":
            self.entered.add(frame.f_code)

    @contextmanager
    def recording(self) -> Iterator[set[CodeType]]:
        self.entered, self.is_on = set(), True
        try:
            yield self.entered
        finally:
            self.is_on = False


def functions(entered: set[CodeType]) -> set[tuple[str, str]]:
    """(module's file, function's name and line) of the product's own."""
    return {
        (code.co_filename.removeprefix(f"{ROOT}/"), f"{code.co_qualname}:{code.co_firstlineno}")
        for code in entered
        if code.co_filename.startswith(PRODUCT)
    }


async def walk(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Everything is done once before it is counted: what is made once a process is not a part."""
    steps = Walk()
    threading.setprofile(steps.note)
    sys.setprofile(steps.note)
    federation = Federation(folder, MovingClock())
    try:
        await federation.start()
        first, second, late = await federation.homes("ada", "ben", "cleo")
        with ExitStack() as open_clients:
            clients = [open_clients.enter_context(home.client()) for home in (first, second)]
            for client in clients:
                await client.step()
                await client.step()
            newcomer = open_clients.enter_context(late.client())
            with steps.recording() as joining:
                await newcomer.step()
                await newcomer.step()
            await drive(federation, *clients, newcomer, rounds=1)
            for client in (*clients, newcomer):
                await client.step()  # its report
            await federation.tick()
            for client in clients:
                await client.step()
            with steps.recording() as uploading:
                await newcomer.step()
                await federation.tick()
            with steps.recording() as settling:
                await newcomer.step()
    finally:
        sys.setprofile(None)
        federation.close()
    settled = functions(settling)
    return {
        "join": functions(joining),
        "upload": functions(uploading) | settled,
        "settlement": settled,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.walk", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the numbers alone, as JSON")
    parser.add_argument("--show", metavar="WALK", help="also list what one of the walks passes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        walks = asyncio.run(walk(Path(folder)))
    counted = {
        name: {"modules": len({file for file, _ in passed}), "functions": len(passed)}
        for name, passed in walks.items()
    }
    if given.json:
        sys.stdout.write(json.dumps(counted) + "\n")
    else:
        for name, counts in counted.items():
            sys.stdout.write(
                f"{name:12} {counts['modules']:4} modules {counts['functions']:5} functions" + "\n"
            )
    for file, function in sorted(walks.get(given.show or "", ())):
        sys.stdout.write(f"{file}  {function}" + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
