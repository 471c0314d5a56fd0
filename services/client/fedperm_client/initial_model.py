"""Where all clients of a run start: a task's model with values drawn from a seed.

    python -m fedperm_client.initial_model --task digits --option model=mlp --seed 0 --output FILE

writes the model's body and prints what a run's document says of it. Every client gets these very
values: a seed alone would drift with versions of torch.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError
from torch import nn

from fedperm.durable_file import write_durably
from fedperm.errors import FedPermError
from fedperm.run_document import ModelSpec
from fedperm.wire.digest import sha256_of
from fedperm.wire.message import MOST_NAMED, place_of
from fedperm.wire.model import encode_model
from fedperm_client.errors import TaskError
from fedperm_client.tasks.loading import make_task
from fedperm_client.tasks.task import Option, TaskContext
from fedperm_client.training.parameters import constants_sha256, flatten, tensors_of
from fedperm_client.training.task_check import checked_model


@dataclass(frozen=True)
class InitialModel:
    """What the operator puts into the document, and the body to put beside it."""

    spec: ModelSpec
    body: bytes


def initial_model(
    task: str, options: Mapping[str, Option], seed: int, data_directory: Path = Path("data")
) -> InitialModel:
    """`task` is built in or `path.py:Class`; making its model must not need data."""
    made = make_task(task, TaskContext(options, 0, 1, data_directory))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = checked_model(made)
    body = encode_model(flatten(module))
    return InitialModel(_spec(module, body), body)


def _spec(module: nn.Module, body: bytes) -> ModelSpec:
    try:
        return ModelSpec(
            tensors=tensors_of(module),
            initial_sha256=sha256_of(body),
            constants_sha256=constants_sha256(module),
        )
    except ValidationError as error:
        wrong = "; ".join(f"{place_of(e)}: {e['msg']}" for e in error.errors()[:MOST_NAMED])
        raise TaskError(
            f"no run can have this model: {wrong}", "train fewer parameters: freeze the others"
        ) from None


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        made = initial_model(given.task, dict(given.option), given.seed, given.data_directory)
        write_durably(given.output, made.body)
    except FedPermError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{given.output} cannot be written: {error}\n")
        return 1
    sys.stdout.write(made.spec.model_dump_json() + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fedperm_client.initial_model",
        description="Write a task's initial model and print the document's member `model`.",
    )
    parser.add_argument("--task", required=True, help="digits, mnist, synthetic or path.py:Class")
    parser.add_argument(
        "--option", action="append", default=[], type=parse_option, metavar="NAME=VALUE"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-directory", type=Path, default=Path("data"))
    parser.add_argument("--output", type=Path, required=True)
    return parser


def parse_option(text: str) -> tuple[str, Option]:
    """Numbers and true or false as JSON writes them; anything else is text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not of the form NAME=VALUE")
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    return name, parsed if isinstance(parsed, int | float | bool | str) else value


if __name__ == "__main__":
    sys.exit(main())
