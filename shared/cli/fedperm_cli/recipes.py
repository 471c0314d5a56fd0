"""What the demo and a deployment train: a data set, its recipe, and the options that change it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm_cli.errors import OptionsError
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.specs import given_or

DIGITS, MNIST, SYNTHETIC = "digits", "mnist", "synthetic"


@dataclass(frozen=True)
class Recipe:
    """What learns on a data set with logistic regression under noise."""

    k1: int
    k2: int
    learning_rate: float
    clip: float
    clip_norm_record: float | None


RECIPES: Mapping[str, Recipe] = {
    DIGITS: Recipe(k1=130, k2=5, learning_rate=3.0, clip=0.1, clip_norm_record=2.0),
    MNIST: Recipe(k1=400, k2=1, learning_rate=5.0, clip=0.01, clip_norm_record=2.0),
    # nothing is learned: a client's update is 1 in one parameter, so that no clip cuts it
    SYNTHETIC: Recipe(k1=400, k2=1, learning_rate=1.0, clip=1.0, clip_norm_record=None),
}

_BY_DATASET = "by data set"


@dataclass(frozen=True, kw_only=True)
class RecipeOptions:
    """None is what the data set's recipe says."""

    task: Annotated[
        str | None,
        typer.Option(
            metavar="PATH.PY:CLASS",
            show_default=False,
            help="A task of your own instead of a data set; needs --k1, --learning-rate, --clip.",
        ),
    ] = None
    option: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE", show_default=False, help="An option of your task; once for each."
        ),
    ] = field(default_factory=list)
    rounds: Annotated[int, typer.Option(min=1, help="T.")] = 20
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
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Where data lie; mnist/ is downloaded there if it is missing.",
        ),
    ] = Path("data")
    insecure_test_key: Annotated[
        bool, typer.Option("--insecure-test-key", help="Admit short keys, for quick tests only.")
    ] = False


def check_task_options(options: RecipeOptions) -> None:
    if options.option and options.task is None:
        raise OptionsError(
            "--option is for a task of your own", "also give --task, or leave --option out"
        )


def own_recipe(options: RecipeOptions) -> Recipe:
    """What learns on somebody's own data, only they know."""
    k1, learning_rate, clip = options.k1, options.learning_rate, options.clip
    if k1 is None or learning_rate is None or clip is None:
        raise OptionsError(
            "a task of your own has no recipe", "also give --k1, --learning-rate and --clip"
        )
    return Recipe(k1, given_or(options.k2, 1), learning_rate, clip, options.clip_norm_record)


def recipe_run(options: RecipeOptions, task: str, recipe: Recipe) -> RunOptions:
    """What recipe and options say of a run; who takes part, and when, is to be added."""
    return RunOptions(
        task=task,
        seed=options.seed,
        data=options.data,
        rounds=options.rounds,
        learning_rate=given_or(options.learning_rate, recipe.learning_rate),
        clip_norm_record=given_or(options.clip_norm_record, recipe.clip_norm_record),
        k1=given_or(options.k1, recipe.k1),
        k2=given_or(options.k2, recipe.k2),
        clip=given_or(options.clip, recipe.clip),
        epsilon=options.epsilon,
        insecure_test_key=options.insecure_test_key,
    )


def images_of(options: RecipeOptions) -> list[str]:
    """The options of a task whose data are images."""
    return ["model=logistic", f"alpha={options.alpha}", f"seed={options.seed}"]
