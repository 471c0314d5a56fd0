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
from fedperm.errors import FedPermError, ParameterError
from fedperm_cli.presets import Preset
from fedperm_client.tasks.filters import FilterName


def main() -> int:
    asked = _parser().parse_args()
    torch.set_num_threads(asked.threads)
    wish, world = _wish(asked), World(asked.seeds[0], asked.alpha, asked.filter)
    try:
        _check_seeds(asked.seeds)
        wish.check()
        recipe = recipe_for(wish, world.filter)
        digits = test_digits(asked.data, world.filter)
        outcomes = [run(wish, recipe, digits, world.with_seed(seed)) for seed in asked.seeds]
    except FedPermError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 1
    _print(asked, outcomes)
    return 0


def _check_seeds(seeds: Sequence[int]) -> None:
    if min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise ParameterError(
            f"seeds {' '.join(map(str, seeds))}", "give different whole numbers from 0 on"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="experiments.accuracy",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--algorithm", type=Algorithm, choices=list(Algorithm), required=True)
    parser.add_argument(
        "--setting", type=Preset, choices=list(Preset), default=Preset.LIGHT, help="of fedperm"
    )
    parser.add_argument(
        "--accountant", default="default", help="of fedperm: see docs/privacy.md, Accountants"
    )
    noise = parser.add_mutually_exclusive_group()
    noise.add_argument(
        "--epsilon", type=float, help="total, in the algorithm's own unit; fedavg ignores it"
    )
    noise.add_argument("--record-epsilon", type=float, help="total for one record (fedperm)")
    parser.add_argument(
        "--seeds", type=int, nargs="+", required=True, help="each deals out the data anew"
    )
    parser.add_argument(
        "--alpha", type=float, default=1.0, help="Dirichlet: how alike the clients' data are"
    )
    parser.add_argument(
        "--filter",
        type=FilterName,
        choices=[FilterName.NONE, FilterName.ORIENTATIONS],
        default=FilterName.ORIENTATIONS,
        help="of the images; none are raw pixels, as in the paper",
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="with more, sums are rounded in another order"
    )
    data = Path(os.environ.get("FEDPERM_DATA", "data"))
    parser.add_argument("--data", type=Path, default=data, help="holds the folder mnist/")
    parser.add_argument("--json", action="store_true")
    return parser


def _wish(asked: argparse.Namespace) -> Wish:
    if asked.algorithm is Algorithm.FEDAVG:  # it has no noise, whatever else was asked for
        return Wish(Algorithm.FEDAVG, accountant=asked.accountant)
    by_record = asked.record_epsilon is not None
    return Wish(
        algorithm=asked.algorithm,
        epsilon=asked.record_epsilon if by_record else asked.epsilon,
        geometry=asked.setting.geometry,
        accountant=asked.accountant,
        for_record=by_record,
    )


def result_of(wish: Wish, seeds: Sequence[int], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Over all seeds: the least noise and the largest epsilons. Noise for one record differs from
    seed to seed, since the smallest client does: `by_seed` has them."""
    finals = [outcome.accuracies[-1] for outcome in outcomes]
    return {
        "accuracy_mean": statistics.mean(finals),
        "accuracy_std": statistics.stdev(finals) if len(finals) > 1 else 0.0,
        "seeds": list(seeds),
        **_noise(wish, min(outcome.noise for outcome in outcomes)),
        "privacy": _largest([outcome.privacy for outcome in outcomes]),
        "by_seed": [
            {
                "seed": seed,
                "accuracy": outcome.accuracies[-1],
                **_noise(wish, outcome.noise),
                "smallest_client": outcome.smallest_client,
            }
            for seed, outcome in zip(seeds, outcomes, strict=True)
        ],
    }


def _noise(wish: Wish, amount: float) -> dict[str, float | None]:
    """b in units of the interval from -C to C, z in units of the clip; null: no such noise."""
    is_gaussian = wish.algorithm in (Algorithm.CDP, Algorithm.LDP)
    return {
        "laplace_scale": amount if wish.algorithm is Algorithm.FEDPERM else None,
        "gaussian_multiplier": amount if is_gaussian else None,
    }


def _largest(privacies: Sequence[Mapping[str, float | str]]) -> dict[str, float | str]:
    first, *_ = privacies
    return {
        name: value if isinstance(value, str) else max(float(p[name]) for p in privacies)
        for name, value in first.items()
    }


def _print(asked: argparse.Namespace, outcomes: Sequence[Outcome]) -> None:
    result = result_of(_wish(asked), asked.seeds, outcomes)
    if asked.json:
        sys.stdout.write(json.dumps(result) + "\n")
        return
    for name, value in result.items():
        sys.stdout.write(f"{name}: {value}\n")


if __name__ == "__main__":
    sys.exit(main())
