"""`python -m experiments.mutants [MODULE ...]`: 0 if at least 85 % of the mutants were killed."""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from experiments.mutants.page import FLOOR, killed_share, page
from experiments.mutants.results import Result, read
from experiments.mutants.targets import TARGETS
from experiments.mutants.tree import copied, run_session

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    modules = _wanted(given.modules)
    with copied(ROOT) as copy, tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "results"
        output.touch()
        status = run_session(copy, output, modules)
        results = read(output)
    print(page(results))
    _save(results, given.output)
    if status:
        print("the tests did not run to their end")
    return int(bool(status) or killed_share(results) < FLOOR)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.mutants")
    parser.add_argument("modules", nargs="*", help="parts of their names; all without one")
    parser.add_argument("--output", type=Path, default=ROOT / "out" / "mutants.json")
    return parser


def _wanted(parts: list[str]) -> list[str]:
    names = [target.name for target in TARGETS]
    wanted = [name for name in names if not parts or any(part in name for part in parts)]
    if not wanted:
        sys.exit(f"no such module; there are {', '.join(names)}")
    return wanted


def _save(results: list[Result], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(result) for result in results], indent=1))
    print(f"saved {path}")


if __name__ == "__main__":
    sys.exit(main())
