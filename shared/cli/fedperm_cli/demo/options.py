"""The options of `fedperm demo`."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fedperm.contributors import FEW_CONTRIBUTORS
from fedperm.ids import KeyName, RunName
from fedperm.schemes.registry import default_scheme
from fedperm_cli.recipes import (
    DIGITS,
    MNIST,
    RECIPES,
    RecipeOptions,
    check_task_options,
    images_of,
    own_recipe,
    recipe_run,
)
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.specs import check, least_contributors

KEY, RUN = KeyName("demo"), RunName("demo")

_DEADLINE_SECONDS = 120.0


class Dataset(StrEnum):
    DIGITS = DIGITS
    MNIST = MNIST


@dataclass(frozen=True, kw_only=True)
class DemoOptions(RecipeOptions):
    clients: Annotated[int, typer.Option(min=3, help="Client processes.")] = 5
    dataset: Annotated[Dataset, typer.Option(help="What is learned.")] = Dataset.DIGITS
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            show_default="a new one, out/demo-N",
            help="Logs, models and all state go there; it must be new or empty.",
        ),
    ] = None


def check_demo(options: DemoOptions) -> None:
    """Refuses what is impossible before anything is started."""
    default_scheme(options.key_bits, insecure_for_tests=options.insecure_test_key)
    check_task_options(options)
    check(run_options(options, min_records=1))


def task_name(options: DemoOptions) -> str:
    return options.dataset.value if options.task is None else options.task


def task_options(options: DemoOptions) -> list[str]:
    """The partition of a task of somebody's own is its own affair."""
    return images_of(options) if options.task is None else options.option


def run_options(options: DemoOptions, min_records: int) -> RunOptions:
    """`min_records` is the size of the smallest client, for which the record level is promised."""
    recipe = RECIPES[options.dataset] if options.task is None else own_recipe(options)
    return replace(
        recipe_run(options, task_name(options), recipe),
        key=KEY,
        option=task_options(options),
        clients=options.clients,
        min_contributors=least_contributors(options.clients, FEW_CONTRIBUTORS),
        deadline_seconds=_DEADLINE_SECONDS,
        min_records=min_records,
    )
