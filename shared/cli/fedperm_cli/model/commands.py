"""`fedperm model export` and `evaluate`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fedperm_cli.exit_codes import EPILOG
from fedperm_cli.measures import as_share, counted
from fedperm_cli.model import evaluation, exporting
from fedperm_cli.model.options import ModelOptions, ModelPlace
from fedperm_cli.option_groups import with_option_groups
from fedperm_cli.output import Output
from fedperm_cli.pages import facts, print_json, show

model_commands = typer.Typer(
    no_args_is_help=True, help="Hand on and try out what a run has learned (client's owner)."
)


@model_commands.command(epilog=EPILOG)
@with_option_groups
def export(
    model: ModelPlace,
    *,
    file: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="FILE",
            dir_okay=False,
            show_default=False,
            help="*.safetensors, or *.pt for a torch state dict.",
        ),
    ],
    options: ModelOptions,
    output: Output,
) -> None:
    """Write a trained model for other programs.

    With --task it is the whole model, frozen parts and buffers as well; without, the tensors that
    were trained, as the file names them.
    """
    as_json = output.is_json()
    exported = exporting.export(model, file, options)
    if as_json:
        print_json(json.dumps(asdict(exported)))
        return
    what = "the whole model" if exported.whole else "what was trained"
    count = counted(len(exported.tensors), "tensor")
    show(f"{exported.file} holds {what} of {exported.source}: {count}, {exported.kind}")


@model_commands.command(epilog=EPILOG)
@with_option_groups
def evaluate(model: ModelPlace, *, options: ModelOptions, output: Output) -> None:
    """Try a trained model on its task's public test data."""
    as_json = output.is_json()
    evaluated = evaluation.evaluate(model, options)
    if as_json:
        print_json(json.dumps(asdict(evaluated)))
        return
    show(
        facts(
            ("model", f"{evaluated.model}, {evaluated.parameters:,} trained parameters"),
            ("task", f"{evaluated.task}, {counted(evaluated.records, 'test record')}"),
            ("loss", f"{evaluated.loss:.6g}"),
            ("accuracy", as_share(evaluated.accuracy)),
        )
    )
