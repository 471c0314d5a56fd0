"""`fedperm privacy`: options in, report out.

Accountants and pictures are imported when they are needed: scipy takes a second, which every
other command would pay as well.
"""

from pathlib import Path
from typing import Annotated

import typer

from fedperm_cli.given_options import options_given
from fedperm_cli.output import DocumentFormat, DocumentFormatOption, JsonOption, chosen_format
from fedperm_cli.pages import print_text, stderr
from fedperm_cli.picture_directory import check_picture_directory
from fedperm_cli.presets import PAPER_DELTA, PAPER_ROUNDS, Preset, geometry_of
from fedperm_cli.privacy.noise import Noise, noise_of, not_exactly_one
from fedperm_cli.privacy.settings import Settings, training_of
from fedperm_cli.progress import steps_on

NUMBERS = "privacy.json"
FIGURES = "--figures"
_NOISE, _RECORD = "Noise: exactly one of", "Record level: all four, or none"


def privacy(
    context: typer.Context,
    *,
    preset: Annotated[
        Preset, typer.Option(help="The paper's k1, k2 and d; each can be overridden.")
    ] = Preset.LIGHT,
    k1: Annotated[int | None, typer.Option(help="Positions that a pattern shuffles.")] = None,
    k2: Annotated[int | None, typer.Option(help="Shuffling patterns.")] = None,
    d: Annotated[int | None, typer.Option(help="Parameters of the model.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds in which the client takes part.")] = (
        PAPER_ROUNDS
    ),
    delta: Annotated[float, typer.Option(help="The delta of every (epsilon, delta).")] = (
        PAPER_DELTA
    ),
    accountant: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How the paper's unit is counted: default (the smallest published bound), paper, "
            "paper-hoeffding, paper-generic, no-shuffle-rdp, bennett-pld, clones-pld, "
            "variation-ratio-pld, or blanket-pld (experimental).",
        ),
    ] = "default",
    epsilon: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=_NOISE, help="The least noise with this total in the paper's unit."
        ),
    ] = None,
    laplace_scale: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=_NOISE, help="This scale b, on parameters normalised to [0, 1]."
        ),
    ] = None,
    record_epsilon: Annotated[
        float | None,
        typer.Option(rich_help_panel=_NOISE, help="The least noise with this total for a record."),
    ] = None,
    clip_norm_record: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=_RECORD,
            help="L2 clip G of each record's gradient, in one full-batch step a round.",
        ),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(rich_help_panel=_RECORD, help="Of that step.")
    ] = None,
    clip: Annotated[
        float | None,
        typer.Option(rich_help_panel=_RECORD, help="C: updates are clipped to [-C, C]."),
    ] = None,
    records: Annotated[
        int | None, typer.Option(rich_help_panel=_RECORD, help="Of the smallest client.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Also draw the paper's privacy figures and the noise that each accountant asks "
            "for, always at the paper's settings: no other option changes them. Without any noise "
            "option, draw only these.",
        ),
    ] = None,
    output_format: DocumentFormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a client's run costs in privacy, in every unit, from the noise or to it.

    The paper's epsilon protects a few parameters of an update. A whole update and a single
    record are protected differently: these rows are always printed beside it.
    """
    form = chosen_format(DocumentFormat, output_format, as_json=as_json)
    training = training_of(clip_norm_record, learning_rate, clip, records)
    noise = noise_of(epsilon, laplace_scale, record_epsilon, training)
    settings = Settings(geometry_of(preset, k1, k2, d), rounds, delta, accountant, training)
    if noise is None:
        _check_only_figures(context)
    if figures is not None:
        check_picture_directory(figures, NUMBERS)
    if noise is not None:
        _print_report(settings, noise, form)
    if figures is not None:
        _draw(figures)


def _check_only_figures(context: typer.Context) -> None:
    """Without noise there is no report, for which all other options are."""
    given = options_given(context)
    if FIGURES not in given:
        raise not_exactly_one("there is nothing to say how much noise is added")
    if given != [FIGURES]:
        ignored = ", ".join(option for option in given if option != FIGURES)
        raise not_exactly_one(f"without noise, {FIGURES} would ignore {ignored}")


def _print_report(settings: Settings, noise: Noise, form: DocumentFormat) -> None:
    from fedperm_cli.privacy.answer import rendered, report_on  # noqa: PLC0415  (see above)

    report = report_on(settings, noise)
    if report.experimental:
        warning = f"warning: {report.accountant} is EXPERIMENTAL: do not rely on rows 1 and 3"
        stderr().print(warning, style="yellow")
    print_text(rendered(report, form))


def _draw(directory: Path) -> None:
    from fedperm_cli.privacy.illustration import illustrate  # noqa: PLC0415  (see above)

    console = stderr()
    with steps_on(console) as steps:
        illustrate(directory / NUMBERS, steps)
    console.print(f"figures and their numbers are in {directory}")
