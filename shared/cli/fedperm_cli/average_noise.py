"""Whether a run can learn anything: the noise on a round's average beside what clients can move."""

import math
from dataclasses import dataclass

from fedperm_cli.measures import counted

MOST = 2.0
"""Times the movement, after all rounds. Softmax regression on MNIST, where many parameters say the
same, learns well at 1.8 and badly at 5.3 (experiments/results/tuning.json)."""


@dataclass(frozen=True)
class AverageNoise:
    """In units of C, which is the furthest that an honest client moves a parameter in a round."""

    laplace_scale: float
    clients: int
    rounds: int

    @property
    def in_a_round(self) -> float:
        """The standard deviation of a parameter: Laplace of scale 2 C b, averaged."""
        return 2 * math.sqrt(2) * self.laplace_scale / math.sqrt(self.clients)

    @property
    def in_all_rounds(self) -> float:
        """It adds up with the root of their number; movements add up with their number."""
        return self.in_a_round * math.sqrt(self.rounds)

    @property
    def times_movement(self) -> float:
        """After all rounds, for a parameter that every client pushed by C in each of them."""
        return self.in_all_rounds / self.rounds

    @property
    def warning(self) -> str | None:
        if self.times_movement <= MOST:
            return None
        return (
            f"after all rounds the noise is {_number(self.times_movement)} times the furthest that "
            "clients can move a parameter: expect to learn little or nothing. Train fewer "
            "parameters, or take more clients, a larger k1 or k2, or a larger epsilon"
        )

    def members(self) -> dict[str, float | str | None]:
        """Of the JSON object that a command prints."""
        return {
            "in_a_round": self.in_a_round,
            "in_all_rounds": self.in_all_rounds,
            "times_movement": self.times_movement,
            "warning": self.warning,
        }

    def words(self, clip: float | None) -> str:
        """For people, in units of C where it is not known."""
        unit, name, named = (1.0, " C", "C") if clip is None else (clip, "", f"C = {clip:g}")
        return (
            f"noise: standard deviation {_number(self.in_a_round * unit)}{name} a parameter and "
            f"round on the average of {counted(self.clients, 'client')}, who move it by at most "
            f"{named}; after {counted(self.rounds, 'round')} "
            f"{_number(self.in_all_rounds * unit)}{name} beside {_number(self.rounds * unit)}{name}"
        )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
