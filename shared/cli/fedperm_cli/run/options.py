"""The options of `fedperm run create` that become a run's document."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from fedperm.ids import KeyName
from fedperm.norm_bound import NormForm
from fedperm_cli.names import checked_name
from fedperm_cli.presets import PAPER_DELTA

_TASK, _ROUNDS, _TRAINING = "Task", "Rounds", "Training"
_PRIVACY, _NOISE = "Shuffle and privacy", "Noise: exactly one of"
_ENCODING = "Encoding and robustness"


def _option(panel: str, words: str, *names: str, default: str | bool = True, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, help=words, show_default=default, **more)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """As they were given. None is "not given": an error for what a document cannot do without,
    else the default that the help names."""

    key: Annotated[
        KeyName | None,
        _option(_TASK, "Name of the key that clients share.", metavar="KEY", parser=checked_name),
    ] = None
    task: Annotated[
        str | None,
        _option(
            _TASK,
            "Data and model: digits, mnist, synthetic or path.py:Class.",
            envvar="FEDPERM_TASK",
        ),
    ] = None
    option: Annotated[
        list[str],
        _option(
            _TASK, "An option of the task; once for each.", default=False, metavar="NAME=VALUE"
        ),
    ] = field(default_factory=list)
    seed: Annotated[int, _option(_TASK, "Draws the initial model.")] = 0
    data: Annotated[
        Path, _option(_TASK, "Where tasks find their data.", metavar="DIR", file_okay=False)
    ] = Path("data")

    clients: Annotated[int | None, _option(_ROUNDS, "Clients that are expected.")] = None
    rounds: Annotated[int | None, _option(_ROUNDS, "T, aborted ones included.")] = None
    clients_per_round: Annotated[
        int | None, _option(_ROUNDS, "Drawn for a round.", default="all")
    ] = None
    min_contributors: Annotated[
        int | None, _option(_ROUNDS, "Needed in a sum.", default="more than half, at least 3")
    ] = None
    start_with: Annotated[
        int | None, _option(_ROUNDS, "Online before the first round.", default="all")
    ] = None
    deadline_seconds: Annotated[float, _option(_ROUNDS, "After which a round closes.")] = 300.0
    extension_seconds: Annotated[
        float | None,
        _option(_ROUNDS, "Longer if too few have answered.", default="half the deadline"),
    ] = None
    extensions: Annotated[int, _option(_ROUNDS, "So often, then the round is aborted.")] = 1
    give_up_after: Annotated[int, _option(_ROUNDS, "Aborted rounds in a row end the run.")] = 3

    learning_rate: Annotated[float | None, _option(_TRAINING, "Of the clients' SGD.")] = None
    local_epochs: Annotated[int, _option(_TRAINING, "Passes over a client's records.")] = 1
    batch_size: Annotated[int | None, _option(_TRAINING, "Records in a step.", default="all")] = (
        None
    )
    clip_norm_record: Annotated[
        float | None,
        _option(
            _TRAINING,
            "L2 clip G of each record's gradient, in one full-batch step: protects records.",
            default="records are not protected",
        ),
    ] = None
    min_records: Annotated[int, _option(_TRAINING, "Clients with fewer do not take part.")] = 1
    local_metrics: Annotated[
        bool,
        _option(_TRAINING, "Ask for training losses, which no epsilon counts.", "--local-metrics"),
    ] = False

    k1: Annotated[int | None, _option(_PRIVACY, "Positions that a pattern shuffles.")] = None
    k2: Annotated[int, _option(_PRIVACY, "Shuffling patterns.")] = 1
    clip: Annotated[float | None, _option(_PRIVACY, "C: updates are clipped to [-C, C].")] = None
    delta: Annotated[float, _option(_PRIVACY, "The delta of every (epsilon, delta).")] = PAPER_DELTA
    accountant: Annotated[
        str, _option(_PRIVACY, "How the paper's unit is counted; see `fedperm privacy`.")
    ] = "default"
    epsilon: Annotated[
        float | None, _option(_NOISE, "The least noise with this total in the paper's unit.")
    ] = None
    laplace_scale: Annotated[
        float | None, _option(_NOISE, "This scale b, on parameters normalised to [0, 1].")
    ] = None
    record_epsilon: Annotated[
        float | None, _option(_NOISE, "The least noise with this total for a record.")
    ] = None
    no_noise: Annotated[bool, _option(_NOISE, "None, and no privacy.", "--no-noise")] = False

    value_bits: Annotated[
        int | None, _option(_ENCODING, "Bits of a value.", default="the planner's choice")
    ] = None
    norm_bound: Annotated[
        float | None, _option(_ENCODING, "M.", default="what honest clients need")
    ] = None
    norm_form: Annotated[NormForm, _option(_ENCODING, "Which vector's norm is bounded.")] = (
        NormForm.CENTRED
    )
    insecure_test_key: Annotated[
        bool,
        _option(_ENCODING, "Admit short keys, for quick tests only.", "--insecure-test-key"),
    ] = False
