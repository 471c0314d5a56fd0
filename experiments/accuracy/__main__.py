"""`python -m experiments.accuracy`: one figure of the accuracy table, on chosen seeds."""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from experiments.accuracy.experiment import Outcome, Wish, run
from experiments.accuracy.images import test_digits
from experiments.accuracy.recipes import recipe_for
from experiments.accuracy.setting import Algorithm, World
from fedperm.errors import FedPermError
from fedperm_cli.presets import Preset


def main() -> int:
    asked = _parser().parse_args()
    torch.set_num_threads(asked.threads)
    wish, world = _wish(asked), World(asked.seeds[0], asked.alpha)
    try:
        recipe = recipe_for(wish, world.filter)
        digits = test_digits(asked.data, world.filter)
        outcomes = [run(wish, recipe, digits, world.with_seed(seed)) for seed in asked.seeds]
    except FedPermError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 1
    _print(asked, outcomes)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="experiments.accuracy", description=__doc__)
    parser.add_argument("--algorithm", type=Algorithm, choices=list(Algorithm), required=True)
    parser.add_argument("--setting", type=Preset, choices=list(Preset), default=Preset.LIGHT)
    parser.add_argument("--accountant", default="default")
    noise = parser.add_mutually_exclusive_group()
    noise.add_argument("--epsilon", type=float, help="total, in the algorithm's own unit")
    noise.add_argument("--record-epsilon", type=float, help="total for one record (fedperm)")
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    data = Path(os.environ.get("FEDPERM_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="holds the folder mnist/")
    parser.add_argument("--json", action="store_true")
    return parser


def _wish(asked: argparse.Namespace) -> Wish:
    by_record = asked.record_epsilon is not None
    return Wish(
        algorithm=asked.algorithm,
        epsilon=asked.record_epsilon if by_record else asked.epsilon,
        geometry=asked.setting.geometry,
        accountant=asked.accountant,
        for_record=by_record,
    )


def result_of(seeds: Sequence[int], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The scale of the noise, where it is calibrated to the smallest client, is that of each seed;
    an epsilon is the largest of all seeds."""
    finals = [outcome.accuracies[-1] for outcome in outcomes]
    return {
        "accuracy_mean": statistics.mean(finals),
        "accuracy_std": statistics.stdev(finals) if len(finals) > 1 else 0.0,
        "seeds": list(seeds),
        "laplace_scale": [outcome.noise for outcome in outcomes],
        "smallest_client": [outcome.smallest_client for outcome in outcomes],
        "privacy": _largest([outcome.privacy for outcome in outcomes]),
    }


def _largest(privacies: Sequence[Mapping[str, float | str]]) -> dict[str, float | str]:
    first, *_ = privacies
    return {
        name: value if isinstance(value, str) else max(float(p[name]) for p in privacies)
        for name, value in first.items()
    }


def _print(asked: argparse.Namespace, outcomes: Sequence[Outcome]) -> None:
    result = result_of(asked.seeds, outcomes)
    if asked.json:
        sys.stdout.write(json.dumps(result) + "\n")
        return
    for name, value in result.items():
        sys.stdout.write(f"{name}: {value}\n")


if __name__ == "__main__":
    sys.exit(main())
