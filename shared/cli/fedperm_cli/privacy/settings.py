"""What to count: a client's rounds, and how its training treats one record."""

from dataclasses import dataclass

from fedperm.errors import ParameterError
from fedperm.privacy.record_level import LocalTraining
from fedperm.windows import Geometry
from fedperm_cli.errors import OptionsError

TRAINING_OPTIONS = ("--clip-norm-record", "--learning-rate", "--clip", "--records")


@dataclass(frozen=True)
class Settings:
    """One client's run; `accountant` is a name."""

    geometry: Geometry
    rounds: int
    delta: float
    accountant: str
    training: LocalTraining | None

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ParameterError(
                f"--delta is {self.delta:g}", "choose delta between 0 and 1, e.g. 1e-5"
            )


def training_of(
    clip_norm: float | None, learning_rate: float | None, clip: float | None, records: int | None
) -> LocalTraining | None:
    """One full-batch step, if all four of TRAINING_OPTIONS were given; None if none was."""
    given = (clip_norm, learning_rate, clip, records)
    if all(value is None for value in given):
        return None
    if clip_norm is None or learning_rate is None or clip is None or records is None:
        missing = (
            name for name, value in zip(TRAINING_OPTIONS, given, strict=True) if value is None
        )
        raise OptionsError(
            f"the record level also needs {', '.join(missing)}",
            f"give {', '.join(TRAINING_OPTIONS)} together, or none of them",
        )
    return LocalTraining(learning_rate, clip, records, clip_norm)
