"""`python -m tests.hostile`: generated requests to both servers (`--requests`), mangled octets to
all parsers (`--parsers`), or a flood of connections at an aggregator (`--flood`). Figures are
printed and saved under out/; a broken law is exit code 1."""

import argparse
import asyncio
import json
import logging
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.hostile.campaign import campaign
from tests.hostile.parsers import parsers
from tests.hostile.reading import Search
from tests.hostile.siege import Siege
from tests.hostile.world import world

OUT = Path("out")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, metavar="N")
    parser.add_argument("--only", default="", help="operations whose name holds this text")
    parser.add_argument("--parsers", type=float, metavar="SECONDS")
    parser.add_argument("--flood", type=int, metavar="CONNECTIONS")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args(arguments)
    logging.disable(logging.ERROR)
    if given.parsers is not None:
        return read_all(given.parsers, given.seed)
    if given.flood is not None:
        return flood(given.flood)
    return fuzz(given.requests, given.seed, given.only)


def fuzz(requests: int, seed: int, only: str) -> int:
    with world() as made:
        tally = campaign(made, requests, seed, only)
    return conclude("fuzz", tally.lines(), tally.to_json() | {"seed": seed}, tally.is_clean)


def read_all(seconds: float, seed: int) -> int:
    search = Search()
    search.run(parsers(), seconds, seed)
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    figures = search.to_json() | {"seed": seed, "mebibytes": mebibytes}
    lines = [*search.lines(), f"memory at most {mebibytes} MiB"]
    return conclude("parsers", lines, figures, not search.broken)


def flood(connections: int) -> int:
    siege = Siege(connections)
    asyncio.run(siege.lay())
    return conclude("flood", siege.lines(), siege.to_json(), not siege.wrong)


def conclude(name: str, lines: Iterable[str], figures: dict[str, Any], is_clean: bool) -> int:
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps(figures, indent=2))
    seed = f"replay with --seed {figures['seed']}" if "seed" in figures else ""
    for line in (*lines, seed, f"saved to {OUT / name}.json"):
        sys.stdout.write(f"{line}\n")
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
