"""`python -m experiments.load`: 0 if nothing failed and, with --compare, if memory held."""

import argparse
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from experiments.load.comparison import TOLERANCE, is_independent, memory_ratio
from experiments.load.federation import federation
from experiments.load.figure import draw
from experiments.load.page import page
from experiments.load.report import LoadReport
from experiments.load.sampling import sampled
from experiments.load.setting import Setting
from experiments.load.summary import Watched, summarise
from fedperm.clock import SystemClock
from fedperm.errors import FedPermError
from fedperm_cli.pages import show


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # still cleans up
    given.output.mkdir(parents=True, exist_ok=True)
    try:
        reports = [
            _measure(_setting(given, clients), given.limit_minutes * 60, given.output)
            for clients in given.compare or (given.clients,)
        ]
    except (FedPermError, ValidationError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    is_fine = not any(report.failures.total for report in reports)
    return 0 if is_fine and (not given.compare or _holds(*reports)) else 1


def _measure(setting: Setting, limit_seconds: float, folder: Path) -> LoadReport:
    name = f"{setting.clients}-clients"
    with federation(setting) as running:
        try:
            with (
                sampled(running.start_servers(), SystemClock()) as aggregator,
                sampled(running.start_clients(), SystemClock()) as one_client,
            ):
                endings = running.wait(limit_seconds)
            watched = Watched(aggregator, one_client)
            report = summarise(setting, running.tell(), endings, watched)
        finally:
            (folder / f"{name}.log").write_text(running.logs())
        (folder / f"{name}.json").write_text(report.model_dump_json(indent=1))
        draw(report, folder / f"{name}.png")
        show(page(report), f"saved {folder / name}.json, .png and .log")
    return report


def _holds(fewer: LoadReport, more: LoadReport) -> bool:
    ratio = memory_ratio(fewer, more)
    verdict = "within" if is_independent(ratio) else "not within"
    show(
        f"aggregator's peak memory with {more.setting.clients} clients over that with "
        f"{fewer.setting.clients}: {ratio:.3f}, {verdict} {TOLERANCE:.0%}"
    )
    return is_independent(ratio)


def _setting(given: argparse.Namespace, clients: int) -> Setting:
    return Setting(
        clients=clients,
        rounds=given.rounds,
        k1=given.k1,
        k2=given.k2,
        parameters=given.parameters,
        deadline_seconds=given.deadline_seconds,
    )


def _two_counts(text: str) -> tuple[int, int]:
    fewer, more = map(int, text.split(","))
    return fewer, more


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.load", description="A federation of containers under load."
    )
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--clients", type=int, default=20)
    number.add_argument("--compare", type=_two_counts, metavar="FEWER,MORE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--k1", type=int, default=400)
    parser.add_argument("--k2", type=int, default=1)
    parser.add_argument("--parameters", type=int, default=7850, help="d")
    parser.add_argument("--deadline-seconds", type=float, default=600.0, help="of a round")
    parser.add_argument("--limit-minutes", type=float, default=60.0, help="of a run")
    parser.add_argument("--output", type=Path, default=Path("out/load"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
