"""`python -m experiments.rush`: 0 if the figures are as good as promised."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from pydantic import ValidationError

from experiments.rush.page import page
from experiments.rush.rush import rush
from experiments.rush.scene import make_scene
from experiments.rush.setting import Setting
from experiments.rush.summary import shortcomings
from fedperm.clock import SystemClock
from fedperm.errors import FedPermError
from fedperm.randomness import from_operating_system
from fedperm_cli.pages import show
from fedperm_cli.presets import Preset


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # still cleans up
    try:
        scene = make_scene(_setting(given), SystemClock().now(), from_operating_system())
        with tempfile.TemporaryDirectory(prefix="fedperm-rush-") as folder:
            report = rush(scene, Path(folder))
    except (FedPermError, ValidationError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(report.model_dump_json(indent=1))
    lacking = shortcomings(report)
    show(page(report), *(f"NOT AS PROMISED: {words}" for words in lacking))
    show(f"saved {given.output}")
    return 1 if lacking else 0


def _setting(given: argparse.Namespace) -> Setting:
    """The paper's light setting."""
    light = Preset.LIGHT
    return Setting(
        idle=given.idle,
        uploads=given.uploads,
        rounds=given.rounds,
        seconds=given.seconds,
        parameters=light.geometry.d,
        k1=light.geometry.k1,
        k2=light.geometry.k2,
        value_bits=given.value_bits,
        laplace_scale=light.laplace_scale,
        key_bits=given.key_bits,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rush", description="Rush hour at an aggregator on this machine."
    )
    parser.add_argument("--idle", type=int, default=300, help="clients that wait")
    parser.add_argument("--uploads", type=int, default=50, help="clients that upload at once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=300.0, help="it ends then in any case")
    parser.add_argument("--value-bits", type=int, default=11)
    parser.add_argument("--key-bits", type=int, default=2048, help="shorter: for quick tests only")
    parser.add_argument("--output", type=Path, default=Path("out/rush.json"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
