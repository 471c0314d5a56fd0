"""The paper's experiment: 15 clients, 50 rounds, softmax regression with 7,850 parameters."""

from dataclasses import dataclass, replace
from enum import StrEnum

from fedperm_cli.presets import PAPER_DELTA, PAPER_ROUNDS
from fedperm_client.tasks.filters import FilterName

CLIENTS = 15
ROUNDS = PAPER_ROUNDS
DELTA = PAPER_DELTA
VALUE_BITS = 11
KEY_BITS = 2048


class Algorithm(StrEnum):
    FEDPERM = "fedperm"
    FEDAVG = "fedavg"
    CDP = "cdp"
    LDP = "ldp"


class Schedule(StrEnum):
    """By how much of its step the model moves as the rounds go by."""

    CONSTANT = "constant"
    FALLING = "falling"

    def share(self, number: int) -> float:
        """Of the round with this number, from 1 on; 1 on average."""
        return 1.0 if self is Schedule.CONSTANT else 2.0 * (ROUNDS + 0.5 - number) / ROUNDS


@dataclass(frozen=True)
class World:
    """Which data the clients have; `seed` deals them out and draws all noise."""

    seed: int
    alpha: float = 1.0
    filter: FilterName = FilterName.ORIENTATIONS

    def with_seed(self, seed: int) -> "World":
        return replace(self, seed=seed)


@dataclass(frozen=True)
class Recipe:
    """How a client trains, and what it makes of the averaged movement of a round.

    `clip` bounds each coordinate (FedPerm) or the L2 norm (CDP, LDP) of its update;
    `record_clip_norm` bounds each example's gradient. `client_share` is the chance of a client to
    be in a round (CDP). What is done with averages costs no privacy: the model may have momentum,
    move by a schedule, and be used as the mean of all its states so far.
    """

    learning_rate: float
    clip: float = 1.0
    record_clip_norm: float | None = None
    local_epochs: int = 1
    batch_size: int | None = None
    client_share: float = 1.0
    value_bits: int = VALUE_BITS
    momentum: float = 0.0
    schedule: Schedule = Schedule.CONSTANT
    averages_models: bool = False
