"""The options of `fedperm plan`."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from fedperm.errors import ParameterError
from fedperm.privacy.record_level import LocalTraining
from fedperm.schemes.registry import DEFAULT_KEY_BITS, default_scheme
from fedperm.schemes.scheme import Scheme
from fedperm.windows import Geometry
from fedperm_cli.errors import OptionsError
from fedperm_cli.presets import PAPER_DELTA, PAPER_EPSILON, PAPER_ROUNDS
from fedperm_cli.privacy.noise import Noise, noise_of
from fedperm_cli.privacy.settings import Settings, training_of

_MODEL, _NOISE = "Model and federation", "Noise: one of"
_RECORD, _MORE = "Record level: all four, or none", "Encoding"


def _option(panel: str, words: str, *names: str, default: str | bool = True) -> Any:
    return typer.Option(*names, rich_help_panel=panel, help=words, show_default=default)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    d: Annotated[int, _option(_MODEL, "Parameters that are trained.", default=False)]
    clients: Annotated[int, _option(_MODEL, "Clients in a round.", default=False)]
    k1: Annotated[
        int | None,
        _option(_MODEL, "Positions that a pattern shuffles.", default="a good choice of the table"),
    ] = None
    k2: Annotated[int, _option(_MODEL, "Shuffling patterns; needs --k1.")] = 1
    rounds: Annotated[int, _option(_MODEL, "T.")] = PAPER_ROUNDS
    processes: Annotated[int, _option(_MODEL, "Worker processes of the aggregator.")] = 1
    no_choices: Annotated[
        bool, _option(_MODEL, "Weigh no other k1 and k2: quicker.", "--no-choices")
    ] = False

    epsilon: Annotated[
        float | None,
        _option(_NOISE, "The least noise with this total in the paper's unit.", default="4.0"),
    ] = None
    laplace_scale: Annotated[
        float | None, _option(_NOISE, "This scale b, on parameters normalised to [0, 1].")
    ] = None
    record_epsilon: Annotated[
        float | None, _option(_NOISE, "The least noise with this total for a record.")
    ] = None
    no_noise: Annotated[bool, _option(_NOISE, "None, and no privacy.", "--no-noise")] = False
    delta: Annotated[float, _option(_NOISE, "The delta of every (epsilon, delta).")] = PAPER_DELTA
    accountant: Annotated[
        str, _option(_NOISE, "How the paper's unit is counted; see `fedperm privacy`.")
    ] = "default"

    clip_norm_record: Annotated[
        float | None, _option(_RECORD, "L2 clip G of each record's gradient.")
    ] = None
    learning_rate: Annotated[float | None, _option(_RECORD, "Of the one full-batch step.")] = None
    clip: Annotated[float | None, _option(_RECORD, "C: updates are clipped to [-C, C].")] = None
    records: Annotated[int | None, _option(_RECORD, "Of the smallest client.")] = None

    value_bits: Annotated[
        int | None, _option(_MORE, "Bits of a value.", default="the planner's choice")
    ] = None
    key_bits: Annotated[int, _option(_MORE, "Length of n.")] = DEFAULT_KEY_BITS
    insecure_test_key: Annotated[
        bool, _option(_MORE, "Admit short keys, for quick tests only.", "--insecure-test-key")
    ] = False

    def check(self) -> None:
        """Refuses before anything is measured."""
        _ = self.scheme
        for name, value in (
            ("--d", self.d), ("--clients", self.clients), ("--rounds", self.rounds),
            ("--processes", self.processes),
        ):  # fmt: skip
            if value < 1:
                raise ParameterError(f"{name} is {value}", "choose 1 or more")
        if self.clients == 1:
            raise ParameterError(
                "an average of one client is that client's update", "let --clients be 2 or more"
            )
        if self.k1 is None and (self.k2 != 1 or self.no_choices):
            raise OptionsError("--k2 and --no-choices need a k1", "also give --k1")

    @property
    def scheme(self) -> Scheme:
        return default_scheme(self.key_bits, insecure_for_tests=self.insecure_test_key)

    @property
    def wanted(self) -> Geometry | None:
        return None if self.k1 is None else Geometry(self.d, self.k1, self.k2)

    def settings(self, geometry: Geometry) -> Settings:
        return Settings(geometry, self.rounds, self.delta, self.accountant, self._training())

    def noise(self) -> Noise | None:
        """What was asked for, else the paper's epsilon; None if no noise was."""
        epsilon = self.epsilon
        given = [epsilon, self.laplace_scale, self.record_epsilon]
        if self.no_noise:
            if any(value is not None for value in given):
                raise OptionsError("--no-noise and noise contradict each other", "give only one")
            return None
        if all(value is None for value in given):
            epsilon = PAPER_EPSILON
        return noise_of(epsilon, self.laplace_scale, self.record_epsilon, self._training())

    @property
    def says_training(self) -> bool:
        """Whether a record's guarantee was asked for."""
        return self._training() is not None

    def _training(self) -> LocalTraining | None:
        return training_of(self.clip_norm_record, self.learning_rate, self.clip, self.records)
