"""The options of `fedperm demo`, and what each data set makes of those left out."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fedperm.paillier import DEFAULT_KEY_BITS, check_key_bits
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.specs import check, given_or

NAME = "demo"
"""Of the key and of the run."""

_DEADLINE_SECONDS = 120.0


class Dataset(StrEnum):
    DIGITS = "digits"
    MNIST = "mnist"


@dataclass(frozen=True)
class Recipe:
    """What learns on a data set with logistic regression under noise."""

    k1: int
    k2: int
    learning_rate: float
    clip: float
    clip_norm_record: float


RECIPES = {
    Dataset.DIGITS: Recipe(k1=130, k2=5, learning_rate=3.0, clip=0.1, clip_norm_record=2.0),
    Dataset.MNIST: Recipe(k1=400, k2=1, learning_rate=5.0, clip=0.01, clip_norm_record=2.0),
}

_BY_DATASET = "by data set"


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    clients: Annotated[int, typer.Option(min=2, help="Client processes.")] = 5
    rounds: Annotated[int, typer.Option(min=1, help="T.")] = 20
    dataset: Annotated[Dataset, typer.Option(help="What is learned.")] = Dataset.DIGITS
    alpha: Annotated[float, typer.Option(help="Dirichlet: how alike the clients' data are.")] = 1.0
    seed: Annotated[int, typer.Option(help="Draws the partition and the initial model.")] = 2
    k1: Annotated[
        int | None,
        typer.Option(help="Positions that a pattern shuffles.", show_default=_BY_DATASET),
    ] = None
    k2: Annotated[
        int | None, typer.Option(help="Shuffling patterns.", show_default=_BY_DATASET)
    ] = None
    epsilon: Annotated[float, typer.Option(help="Total in the paper's unit, at delta 1e-5.")] = 4.0
    learning_rate: Annotated[
        float | None, typer.Option(help="Of the clients' step.", show_default=_BY_DATASET)
    ] = None
    clip: Annotated[
        float | None,
        typer.Option(help="C: updates are clipped to [-C, C].", show_default=_BY_DATASET),
    ] = None
    clip_norm_record: Annotated[
        float | None,
        typer.Option(help="L2 clip G of each record's gradient.", show_default=_BY_DATASET),
    ] = None
    key_bits: Annotated[int, typer.Option(help="Length of n.")] = DEFAULT_KEY_BITS
    data: Annotated[
        Path,
        typer.Option(metavar="DIR", file_okay=False, help="Holds mnist/, or gets it by download."),
    ] = Path("data")
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            show_default="a new one, out/demo-N",
            help="Logs, models and all state go there; it must be new or empty.",
        ),
    ] = None
    insecure_test_key: Annotated[
        bool, typer.Option("--insecure-test-key", help="Admit short keys, for quick tests only.")
    ] = False


def check_demo(options: DemoOptions) -> None:
    """Refuses what is impossible before anything is started."""
    check_key_bits(options.key_bits, insecure_for_tests=options.insecure_test_key)
    check(run_options(options, min_records=1))


def run_options(options: DemoOptions, min_records: int) -> RunOptions:
    """`min_records` is the size of the smallest client, for which the record level is promised."""
    recipe = RECIPES[options.dataset]
    return RunOptions(
        key=NAME,
        task=options.dataset.value,
        option=task_options(options),
        seed=options.seed,
        data=options.data,
        clients=options.clients,
        rounds=options.rounds,
        deadline_seconds=_DEADLINE_SECONDS,
        learning_rate=given_or(options.learning_rate, recipe.learning_rate),
        clip_norm_record=given_or(options.clip_norm_record, recipe.clip_norm_record),
        min_records=min_records,
        k1=given_or(options.k1, recipe.k1),
        k2=given_or(options.k2, recipe.k2),
        clip=given_or(options.clip, recipe.clip),
        epsilon=options.epsilon,
        insecure_test_key=options.insecure_test_key,
    )


def task_options(options: DemoOptions) -> list[str]:
    return ["model=logistic", f"alpha={options.alpha}", f"seed={options.seed}"]
