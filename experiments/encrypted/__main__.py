"""`python -m experiments.encrypted`: real processes, real keys; exit code 1 if models differ."""

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from experiments.encrypted.experiment import run
from experiments.encrypted.figures import EncryptedResult
from experiments.encrypted.setting import Setting
from fedperm.errors import FedPermError
from fedperm_cli.progress_lines import tell_on
from fedperm_cli.run.views import live_view


def main() -> int:
    asked = _parser().parse_args()
    setting = Setting(asked.clients, asked.rounds, asked.data, seed=asked.seed)
    console = Console(stderr=True)
    try:
        with live_view(console) as view:
            result = asyncio.run(run(setting, asked.keep, view, tell_on(console)))
    except FedPermError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 1
    _print(result, as_json=asked.json)
    return 0 if result.identical else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="experiments.encrypted", description=__doc__)
    parser.add_argument("--clients", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=20, help="deals the data out")
    data = Path(os.environ.get("FEDPERM_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="holds the folder mnist/")
    parser.add_argument("--keep", type=Path, help="logs and all state; a new one in out/ if absent")
    parser.add_argument("--json", action="store_true")
    return parser


def _print(result: EncryptedResult, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(asdict(result)) + "\n")
        return
    from experiments.encrypted.report import table  # noqa: PLC0415

    sys.stdout.write("\n".join([*table(result), ""]))
    sys.stdout.write(f"identical: {'yes' if result.identical else 'NO'}\n")


if __name__ == "__main__":
    sys.exit(main())
