"""`python -m experiments.cheapest_request`: 0 if the figures are as good as promised."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from experiments.cheapest_request.measuring import Size, measure
from experiments.cheapest_request.report import page
from experiments.paper.origin import origin_here
from fedperm.clock import SystemClock
from fedperm.randomness import from_operating_system
from fedperm_cli.pages import show

COMMAND = ".venv/bin/python -m experiments.cheapest_request"


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # still cleans up
    size = Size(given.requests, given.connections, given.seconds, given.tries, given.key_bits)
    with tempfile.TemporaryDirectory(prefix="fedperm-cheapest-") as folder:
        report = measure(
            Path(folder), size, origin_here(COMMAND), SystemClock(), from_operating_system()
        )
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(report.model_dump_json(indent=1) + "\n")
    lacking = report.shortcomings()
    show(page(report), *(f"NOT AS PROMISED: {words}" for words in lacking))
    show(f"saved {given.output}")
    return 1 if lacking else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.cheapest_request",
        description="What a request costs a server on this machine, and who else is served.",
    )
    usual = Size()
    parser.add_argument("--requests", type=int, default=usual.requests, help="of each kind")
    parser.add_argument("--connections", type=int, default=usual.connections, help="of a flood")
    parser.add_argument("--seconds", type=float, default=usual.flood_seconds, help="of a flood")
    parser.add_argument("--tries", type=int, default=usual.tries, help="of each flood")
    parser.add_argument("--key-bits", type=int, default=usual.key_bits)
    parser.add_argument("--output", type=Path, default=Path("out/cheapest-request.json"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
