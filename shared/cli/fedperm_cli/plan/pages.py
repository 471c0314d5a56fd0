"""A plan for people."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from fedperm.privacy.rendering import as_text
from fedperm.windows import Geometry
from fedperm_cli.measures import UNKNOWN, as_bytes, as_seconds, counted
from fedperm_cli.pages import facts, heading, indented, listing, show, warning_lines
from fedperm_cli.plan.answer import Answer
from fedperm_cli.plan.choices import Choice
from fedperm_cli.plan.forecast import Forecast
from fedperm_cli.run.privacy import NO_NOISE

_NUMBERS = ("k1", "k2", "protects", "noise b", "epsilon", "CPU a round", "upload")


def print_plan(answer: Answer) -> None:
    geometry, options = answer.plan.geometry, answer.options
    show(
        heading(
            f"d = {geometry.d:,}, k1 = {geometry.k1:,}, k2 = {_patterns(geometry)}: "
            f"{counted(options.clients, 'client')}, {counted(options.rounds, 'round')}"
        ),
        *map(indented, answer.plan.reasons),
        heading("A round (CPU of one core of this machine, measured just now; training is apart)"),
        _round(answer.forecast, options.clients),
        heading("Memory and disk, about"),
        _room(answer.forecast),
        heading("All rounds"),
        _run(answer),
        *_learning(answer),
        *_warnings(answer),
        "",
        NO_NOISE if answer.report is None else as_text(answer.report),
    )
    if len(answer.choices) > 1:
        show(
            heading("Choices of k1 and k2 (* Pareto-best: less noise only for more work)"),
            _choices(answer.choices, geometry.k1, geometry.k2),
            "",
            "epsilon: in the paper's unit, for as many parameters of an update as `protects` says. "
            "Less noise at the same epsilon is less privacy for everything else: rows 4 and 5.",
        )


def _patterns(geometry: Geometry) -> str:
    """There are no more patterns than windows."""
    if geometry.patterns == geometry.k2:
        return f"{geometry.k2:,}"
    return f"{geometry.patterns:,} ({geometry.k2:,} asked for, a window has one)"


def _learning(answer: Answer) -> Iterator[RenderableType]:
    noise = answer.average_noise
    if noise is not None:
        yield heading("What can be learned")
        yield indented(noise.words(answer.options.clip))


def _warnings(answer: Answer) -> Iterator[RenderableType]:
    if answer.warnings:
        yield ""
        yield from map(indented, warning_lines(answer.warnings))


def _round(forecast: Forecast, clients: int) -> Table:
    counts, seconds, sizes = forecast.counts, forecast.seconds, forecast.bytes
    table = listing("who", "does", "how much", "CPU", right=("how much", "CPU"))
    for row in (
        ("client", "encrypts masks, ahead of time", f"{counts.client_encrypts:,} ciphertexts",
         seconds.client_encrypt_ahead),
        ("client", "encrypts masks, in the round", f"{counts.client_encrypts:,} ciphertexts",
         seconds.client_encrypt),
        ("client", "uploads", as_bytes(sizes.upload), None),
        ("aggregator", f"checks {counted(clients, 'upload')}",
         as_bytes(sizes.aggregator_receives), seconds.aggregator_validate),
        ("aggregator", "folds them", f"{counts.fold_multiplications:,} multiplications",
         seconds.aggregator_fold),
        ("aggregator", "re-randomises the sum",
         f"{counts.aggregator_publishes:,} ciphertexts", seconds.aggregator_rerandomise),
        ("client", "downloads", as_bytes(sizes.download), None),
        ("client", "decrypts", f"{counts.client_decrypts:,} ciphertexts",
         seconds.client_decrypt),
    ):  # fmt: skip
        *words, cpu = row
        table.add_row(*map(str, words), UNKNOWN if cpu is None else as_seconds(float(cpu)))
    return table


def _room(forecast: Forecast) -> Table:
    sizes = forecast.bytes
    return facts(
        ("client", f"{as_bytes(sizes.client_memory)} of memory, without its data and activations"),
        ("aggregator", f"{as_bytes(sizes.aggregator_memory)} of memory, all processes"),
        ("", f"{as_bytes(sizes.aggregator_disk)} on disk, and {as_bytes(sizes.download)} a round"),
    )


def _run(answer: Answer) -> Table:
    rounds, seconds, sizes = answer.options.rounds, answer.forecast.seconds, answer.forecast.bytes
    up, down, received = (
        as_bytes(rounds * size)
        for size in (sizes.upload, sizes.download, sizes.aggregator_receives)
    )
    client, aggregator = (as_seconds(rounds * one) for one in (seconds.client, seconds.aggregator))
    tables = as_seconds(seconds.client_tables_once)
    return facts(
        ("a client", f"{client} of CPU, {up} up, {down} down; tables of a key {tables}"),
        ("aggregator", f"{aggregator} of CPU, {received} received"),
    )


def _choices(choices: Sequence[Choice], k1: int, k2: int) -> Table:
    table = listing("", *_NUMBERS, right=_NUMBERS)
    for choice in choices:
        planned = " planned" if (choice.k1, choice.k2) == (k1, k2) else ""
        table.add_row(
            ("*" if choice.best else " ") + planned,
            f"{choice.k1:,}",
            f"{choice.k2:,}",
            f"{choice.parameters:,}",
            _number(choice.laplace_scale),
            _number(choice.epsilon),
            as_seconds(choice.cpu_seconds),
            as_bytes(choice.upload),
        )
    return table


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4g}"
