"""The options of `fedperm deployment run`; each is also FEDPERM_OPERATOR_ and its name."""

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fedperm.ids import KeyName, RunName
from fedperm.schemes.registry import default_scheme
from fedperm_cli.errors import OptionsError
from fedperm_cli.names import checked_name
from fedperm_cli.recipes import (
    DIGITS,
    MNIST,
    RECIPES,
    SYNTHETIC,
    Recipe,
    RecipeOptions,
    check_task_options,
    images_of,
    own_recipe,
    recipe_run,
)
from fedperm_cli.run.options import RunOptions
from fedperm_cli.run.specs import check, given_or

VARIABLES = "FEDPERM_OPERATOR"
"""The beginning of the variables' names. One that is blank is not given."""


_RUN, _KEY = RunName("demo"), KeyName("demo")


MOST_USES = 100_000

KeyOption = Annotated[
    KeyName, typer.Option(metavar="KEY", parser=checked_name, help="Name of the key.")
]


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """Of a new token for clients to come."""

    key: KeyOption = _KEY
    token_file: Annotated[
        Path,
        typer.Option(
            metavar="FILE", dir_okay=False, show_default=False, help="Gets it, whatever is there."
        ),
    ]
    token_uses: Annotated[
        int, typer.Option(min=1, max=MOST_USES, help="Clients that it enrols.")
    ] = 20


class Dataset(StrEnum):
    DIGITS = DIGITS
    MNIST = MNIST
    SYNTHETIC = SYNTHETIC


@dataclass(frozen=True, kw_only=True)
class OperationOptions(RecipeOptions):
    run: Annotated[
        RunName, typer.Option(metavar="RUN", parser=checked_name, help="Name of the run.")
    ] = _RUN
    key: KeyOption = _KEY
    token_file: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            show_default=False,
            help="Gets the token with which clients enrol, for an hour, unless one is there.",
        ),
    ]
    token_uses: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_USES, help="Clients that a token enrols.", show_default="--most-clients"
        ),
    ] = None
    dataset: Annotated[
        Dataset, typer.Option(help="What is learned; synthetic: nothing, for load tests.")
    ] = Dataset.DIGITS
    parameters: Annotated[int, typer.Option(min=1, help="d of the synthetic data set.")] = 7850
    no_noise: Annotated[
        bool, typer.Option("--no-noise", help="No noise and no privacy, whatever --epsilon says.")
    ] = False
    shards: Annotated[
        int, typer.Option(min=1, help="Parts of the data; a client has one of them.")
    ] = 5
    most_clients: Annotated[int, typer.Option(min=1, help="Asked in a round at most.")] = 20
    quorum: Annotated[int, typer.Option(min=2, help="Clients needed in a sum.")] = 3
    start_with: Annotated[
        int | None,
        typer.Option(help="Clients online before the first round.", show_default="the quorum"),
    ] = None
    deadline_seconds: Annotated[float, typer.Option(help="After which a round closes.")] = 60.0
    extension_seconds: Annotated[
        float | None,
        typer.Option(help="Longer if too few have answered.", show_default="half the deadline"),
    ] = None
    wait_seconds: Annotated[
        float, typer.Option(min=0, help="A server may be away for so long.")
    ] = 60.0


def check_operation(options: OperationOptions) -> None:
    """Refuses what is impossible before any server is asked."""
    default_scheme(options.key_bits, insecure_for_tests=options.insecure_test_key)
    check_task_options(options)
    if options.quorum > options.most_clients:
        raise OptionsError(
            f"a sum needs {options.quorum} clients, and a round asks {options.most_clients}",
            "lower --quorum, or raise --most-clients",
        )
    check(run_options(options, min_records=1))


def run_options(options: OperationOptions, min_records: int) -> RunOptions:
    """`min_records` is the size of the smallest shard, for which the record level is promised."""
    return replace(
        recipe_run(options, task_name(options), _recipe(options)),
        epsilon=None if options.no_noise else options.epsilon,
        no_noise=options.no_noise,
        key=options.key,
        option=task_options(options),
        clients=options.most_clients,
        min_contributors=options.quorum,
        start_with=given_or(options.start_with, options.quorum),
        deadline_seconds=options.deadline_seconds,
        extension_seconds=options.extension_seconds,
        min_records=min_records,
    )


def task_name(options: OperationOptions) -> str:
    return options.dataset.value if options.task is None else options.task


def task_options(options: OperationOptions) -> list[str]:
    shards = f"shards={options.shards}"
    if options.task is not None:
        return [shards, *options.option]
    if options.dataset is Dataset.SYNTHETIC:
        return [f"parameters={options.parameters}", shards]
    return [*images_of(options), shards]


def refuse_unknown_variables(context: typer.Context) -> None:
    """A misspelt variable would be ignored in silence."""
    known = {f"{VARIABLES}_{option.name}".upper() for option in context.command.params}
    unknown = {name for name in os.environ if name.startswith(f"{VARIABLES}_")} - known
    if unknown:
        raise OptionsError(
            f"unknown variables: {', '.join(sorted(unknown))}",
            f"the known ones are {', '.join(sorted(known))}",
        )


def _recipe(options: OperationOptions) -> Recipe:
    if options.task is not None:
        return own_recipe(options)
    recipe = RECIPES[options.dataset]
    if options.dataset is Dataset.SYNTHETIC:  # no window is larger than a small vector
        return replace(recipe, k1=min(recipe.k1, options.parameters))
    return recipe
