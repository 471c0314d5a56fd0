"""From options to the parts of a document that need neither key nor model."""

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import ValidationError

from fedperm.contributors import LEAST_CONTRIBUTORS
from fedperm.errors import ParameterError
from fedperm.norm_bound import NormForm
from fedperm.privacy.release import local_training
from fedperm.run_document import RoundsSpec, ShuffleSpec, TaskSpec, TrainingSpec
from fedperm_cli.errors import OptionsError
from fedperm_cli.privacy.noise import Noise, noise_of
from fedperm_cli.run.options import RunOptions

Value = TypeVar("Value")
OptionValue = str | int | float | bool

_ADVICE = {
    "--k1": " (`fedperm plan` weighs choices of it)",
    "--task": " (`fedperm init-task` writes one to begin with)",
}
NOISE_OPTIONS = "--epsilon, --laplace-scale, --record-epsilon and --no-noise"


def check(options: RunOptions) -> None:
    """Refuses before anything is asked of a server or drawn."""
    with options_in_words():
        task_of(options)
        shuffle_of(options)
        rounds = rounds_of(options)
        noise_wanted(options)
    if min(rounds.clients_per_round, rounds.min_contributors) < 2:
        raise ParameterError(
            "an average of one client is that client's update",
            "let --clients, --clients-per-round and --min-contributors be 2 or more",
        )
    if options.min_contributors is None and rounds.min_contributors < LEAST_CONTRIBUTORS:
        raise ParameterError(
            "in a sum of 2 clients each has the other's update, in its order",
            f"take {LEAST_CONTRIBUTORS} clients or more, or say so: --min-contributors 2",
        )
    if options.norm_bound is None and options.norm_form is not NormForm.CENTRED:
        raise OptionsError(
            f"no norm bound is known that suits honest clients in the {options.norm_form} form",
            "give --norm-bound as well, or leave out --norm-form",
        )


def task_of(options: RunOptions) -> TaskSpec:
    """An own task is named by its class: where its file lies is each client's affair."""
    name = required("--task", options.task).rpartition(":")[2]
    return TaskSpec(name=name, options=parse_task_options(options.option))


def training_of(options: RunOptions) -> TrainingSpec:
    return TrainingSpec(
        learning_rate=required("--learning-rate", options.learning_rate),
        local_epochs=options.local_epochs,
        batch_size=options.batch_size,
        record_clip_norm=options.clip_norm_record,
        min_records=options.min_records,
    )


def shuffle_of(options: RunOptions) -> ShuffleSpec:
    return ShuffleSpec(k1=required("--k1", options.k1), k2=options.k2)


def rounds_of(options: RunOptions) -> RoundsSpec:
    clients = required("--clients", options.clients)
    per_round = given_or(options.clients_per_round, clients)
    return RoundsSpec(
        count=required("--rounds", options.rounds),
        clients_per_round=per_round,
        min_contributors=given_or(options.min_contributors, least_contributors(per_round)),
        start_with=given_or(options.start_with, clients),
        deadline_seconds=options.deadline_seconds,
        extension_seconds=given_or(options.extension_seconds, options.deadline_seconds / 2),
        extensions=options.extensions,
        give_up_after=options.give_up_after,
    )


def least_contributors(per_round: int, enough: int = LEAST_CONTRIBUTORS) -> int:
    """More than half, and so many, as far as there are."""
    return max(per_round // 2 + 1, min(per_round, enough))


def noise_wanted(options: RunOptions) -> Noise | None:
    """The one way that was chosen; to have no noise must be said."""
    numbers = options.epsilon, options.laplace_scale, options.record_epsilon
    if sum(number is not None for number in numbers) + options.no_noise != 1:
        raise OptionsError(
            "how much noise is not said in exactly one way", f"give one of {NOISE_OPTIONS}"
        )
    if options.record_epsilon is not None and options.clip_norm_record is None:
        raise OptionsError(
            "--record-epsilon needs a bound on what one record can do",
            "also give --clip-norm-record and --min-records",
        )
    training = local_training(training_of(options), required("--clip", options.clip))
    return noise_of(*numbers, training)


def parse_task_options(texts: Iterable[str]) -> dict[str, OptionValue]:
    given: dict[str, OptionValue] = {}
    for name, value in map(_parse_task_option, texts):
        if name in given:
            raise OptionsError(f"the task's option {name} is given twice", "give it once")
        given[name] = value
    return given


def _parse_task_option(text: str) -> tuple[str, OptionValue]:
    """Numbers and true or false as JSON writes them; anything else is text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise OptionsError(f"--option {text} is not of the form NAME=VALUE", "e.g. model=logistic")
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    is_number = isinstance(parsed, int | float) and math.isfinite(parsed)
    return name, parsed if is_number else value


def required(option: str, value: Value | None) -> Value:
    if value is None:
        raise OptionsError(
            f"a run's document needs {option}",
            f"also give {option}{_ADVICE.get(option, '')}, or a finished --document",
        )
    return value


@contextmanager
def options_in_words() -> Iterator[None]:
    """What a document would refuse, as an error about options."""
    try:
        yield
    except ValidationError as error:
        wrong = "; ".join(
            ": ".join([*map(str, e["loc"]), e["msg"].removeprefix("Value error, ")])
            for e in error.errors()
        )
        raise ParameterError(f"impossible options: {wrong}", "correct these options") from None


def given_or(given: Value | None, default: Value) -> Value:
    return default if given is None else given
