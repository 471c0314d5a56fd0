"""`fedperm bench`: options in, report out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fedperm.randomness import from_operating_system
from fedperm.schemes.registry import DEFAULT_KEY_BITS
from fedperm_cli.bench.experiment import Measurements, prepare_key, run
from fedperm_cli.bench.illustration import NUMBERS, illustrate
from fedperm_cli.bench.measurement import Clock, Instruments
from fedperm_cli.bench.paper import PAPER_CLIENTS
from fedperm_cli.bench.report import baseline_seconds, build_report
from fedperm_cli.bench.settings import Settings, ValueKind
from fedperm_cli.bench.summary import print_summary
from fedperm_cli.output import FormatOption, JsonOption, OutputFormat, chosen_format
from fedperm_cli.pages import print_json, stderr, stdout
from fedperm_cli.picture_directory import check_picture_directory
from fedperm_cli.presets import Preset, geometry_of
from fedperm_cli.progress import steps_on

INEXACT_EXIT_CODE = 1


def bench(
    *,
    preset: Annotated[
        Preset, typer.Option(help="The paper's k1, k2 and d; each can be overridden.")
    ] = Preset.LIGHT,
    k1: Annotated[int | None, typer.Option(help="Parameters in a window.")] = None,
    k2: Annotated[int | None, typer.Option(help="Shuffling patterns.")] = None,
    d: Annotated[int | None, typer.Option(help="Parameters of the model.")] = None,
    clients: Annotated[int, typer.Option(help="Clients in the round.")] = PAPER_CLIENTS,
    value_bits: Annotated[
        int | None, typer.Option(help="Bits of a coded value.", show_default="the planner's choice")
    ] = None,
    laplace_scale: Annotated[
        float | None,
        typer.Option(
            help="Scale of the noise from which the planner chooses the value bits.",
            show_default="50.95 light, 17.38 heavy",
        ),
    ] = None,
    key_bits: Annotated[int, typer.Option(help="Length of n.")] = DEFAULT_KEY_BITS,
    processes: Annotated[int, typer.Option(help="Worker processes of the aggregator.")] = 1,
    values: Annotated[
        ValueKind, typer.Option(help="What clients hold: random integers or an edge case.")
    ] = ValueKind.RANDOM,
    insecure_test_key: Annotated[
        bool, typer.Option("--insecure-test-key", help="Admit short keys, for quick tests only.")
    ] = False,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Also measure time against k1, k2, d and n (about 3 minutes) and write pictures.",
        ),
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure masks, upload, aggregation and decryption beside python-paillier.

    One run of the product's own functions, checked against the integer sum. python-paillier's
    time for Algorithm 1 as written is estimated from its operations, measured in between.
    Exit code 1 if the sum is not exact.
    """
    form = chosen_format(OutputFormat, output_format, as_json=as_json)
    settings = Settings(
        geometry=geometry_of(preset, k1, k2, d),
        clients=clients,
        key_bits=key_bits,
        laplace_scale=preset.laplace_scale if laplace_scale is None else laplace_scale,
        value_bits=value_bits,
        processes=processes,
        values=values,
        insecure_test_key=insecure_test_key,
    )
    if not _measure_and_print(settings, figures, form):
        raise typer.Exit(INEXACT_EXIT_CODE)


def _measure_and_print(settings: Settings, figures: Path | None, form: OutputFormat) -> bool:
    """Whether every sum was exact."""
    settings.plan()  # an impossible plan is refused before a key is made
    if figures is not None:
        check_picture_directory(figures, NUMBERS)
    console = stderr()
    with steps_on(console) as steps:
        instruments = Instruments(Clock(), from_operating_system(), steps)
        prepared = prepare_key(settings, instruments)
        measured = run(settings, prepared, instruments)
    _print(measured, form)
    if figures is None:
        return measured.exact
    with steps_on(console) as steps:
        sweep_exact = illustrate(settings, prepared, replace(instruments, steps=steps), figures)
    console.print(f"figures and their numbers are in {figures}")
    return measured.exact and sweep_exact


def _print(measured: Measurements, form: OutputFormat) -> None:
    report = build_report(measured)
    if form is OutputFormat.JSON:
        print_json(report.to_json())
    else:
        print_summary(report, baseline_seconds(measured), measured.plan.reasons, stdout())
