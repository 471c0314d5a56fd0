"""The paper's experiment: 15 clients, 50 rounds, softmax regression with 7,850 parameters."""

from dataclasses import dataclass, replace
from enum import StrEnum

from fedperm_cli.presets import PAPER_DELTA, PAPER_ROUNDS
from fedperm_client.tasks.filters import FilterName

CLIENTS = 15
ROUNDS = PAPER_ROUNDS
DELTA = PAPER_DELTA
VALUE_BITS = 11
UNCUT = 1.0
"""The clip of an algorithm that has none."""
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
    clip: float = UNCUT
    record_clip_norm: float | None = None
    local_epochs: int = 1
    batch_size: int | None = None
    client_share: float = 1.0
    value_bits: int = VALUE_BITS
    momentum: float = 0.0
    schedule: Schedule = Schedule.CONSTANT
    averages_models: bool = False

    @property
    def in_words(self) -> str:
        """Two recipes have the same words only if they are the same."""
        words = [
            (f"learning rate {self.learning_rate:.6g}", True),
            (f"{self.local_epochs} epochs", self.local_epochs != 1),
            (f"batches of {self.batch_size}", self.batch_size is not None),
            (f"gradients of a record cut to {self.record_clip_norm}", bool(self.record_clip_norm)),
            (f"update cut to {self.clip:.6g}", self.clip != UNCUT),
            (f"{self.client_share:.0%} of the clients", self.client_share != 1.0),
            (f"values of {self.value_bits} bits", self.value_bits != VALUE_BITS),
            (f"momentum {self.momentum:g}", self.momentum != 0.0),
            (f"{self.schedule} steps", self.schedule is not Schedule.CONSTANT),
            ("mean of models", self.averages_models),
        ]
        return ", ".join(word for word, is_said in words if is_said)
