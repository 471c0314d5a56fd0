"""`fedperm init-task` and `fedperm check-task`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedperm_cli.errors import OptionsError
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import print_json
from fedperm_cli.run.specs import parse_task_options
from fedperm_cli.task.options import TaskName, TaskOptions
from fedperm_cli.task.pages import print_starting_file, print_task
from fedperm_cli.task.starting_file import write_starting_file
from fedperm_cli.task.trial import try_task


@with_option_groups
def init_task(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", show_default=False, help="A new file, *.py.")
    ],
    *,
    output: Output,
) -> None:
    """Write a file to begin with: a task of your own that runs as it is."""
    as_json = output.is_json()
    written = write_starting_file(path)
    if as_json:
        print_json(json.dumps(asdict(written)))
    else:
        print_starting_file(written)


@with_option_groups
def check_task(
    task: TaskName,
    *,
    options: TaskOptions,
    shard: Annotated[int, typer.Option(min=0, help="Which part of the data.")] = 0,
    shards: Annotated[int, typer.Option(min=1, help="Parts of the data.")] = 1,
    output: Output,
) -> None:
    """Try a task out as a client does before its first round; say what is wrong with it.

    Runs the task's code here, without any server. Nothing is trained or sent.
    """
    as_json = output.is_json()
    if shard >= shards:
        raise OptionsError(f"there is no part {shard} of {shards}", "count parts from 0")
    found = try_task(task, parse_task_options(options.option), options.data, shard, shards)
    if as_json:
        print_json(json.dumps(asdict(found)))
    else:
        print_task(found)
