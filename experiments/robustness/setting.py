"""What is attacked, how, and how it defends itself."""

from dataclasses import dataclass
from enum import StrEnum

from experiments.accuracy.setting import Recipe
from fedperm_cli.presets import PAPER_EPSILON

USUAL_ATTACKERS = 3
"""Of the 15 clients are malicious, where nothing else is said."""
SEEDS = (30, 31, 32, 33, 34)
TARGET = 0
"""The class that the backdoor's trigger is to give."""
RECORD_EPSILON = 2.0
ACCOUNTANT = "default"


class Attack(StrEnum):
    NOBODY = "nobody"
    SILENT = "silent"
    FLIP = "flip-1"
    FLIP_10 = "flip-10"
    FLIP_100 = "flip-100"
    LABELS = "labels"
    NOISE = "noise"
    BACKDOOR = "backdoor"
    BOOSTED = "backdoor-boosted"
    LITTLE = "a-little"
    UNNOISED = "unnoised"
    ARRANGED = "arranged"
    MASKS_10 = "masks-10"
    MASKS_1000 = "masks-1000"


IN_WORDS = {
    Attack.NOBODY: "nobody attacks",
    Attack.SILENT: "nothing learned",
    Attack.FLIP: "sign flipped",
    Attack.FLIP_10: "sign flipped, 10 times as long",
    Attack.FLIP_100: "sign flipped, 100 times as long",
    Attack.LABELS: "labels flipped (y to 9 - y)",
    Attack.NOISE: "extreme random values",
    Attack.BACKDOOR: "backdoor, by its data alone",
    Attack.BOOSTED: "backdoor, boosted",
    Attack.LITTLE: "a little is enough",
    Attack.UNNOISED: "unnoised, directed",
    Attack.ARRANGED: "Laplace-looking, arranged",
    Attack.MASKS_10: "masks hold 10 for 1",
    Attack.MASKS_1000: "masks hold 1000 for 1",
}
_AGAINST_FEDPERM = (Attack.UNNOISED, Attack.ARRANGED, Attack.MASKS_10, Attack.MASKS_1000)
"""FedAvg has neither noise to hide in nor masks."""
_AGAINST_FEDAVG = (Attack.LITTLE,)
"""Made for rules that compare updates."""


RECIPES = {
    "fedperm-light": Recipe(learning_rate=30.0, clip=0.002, record_clip_norm=10.0),
    "fedperm-record": Recipe(learning_rate=0.1, clip=0.01, record_clip_norm=10.0),
    "fedavg": Recipe(learning_rate=0.1, batch_size=64),
}
"""Plain steps, fixed: what is asked here is what attackers change."""


class System(StrEnum):
    """FedPerm light under the default accountant at epsilon 4, FedPerm light with noise for one
    record at epsilon 2, and FedAvg."""

    LIGHT = "fedperm-light"
    RECORD = "fedperm-record"
    FEDAVG = "fedavg"

    @property
    def recipe(self) -> Recipe:
        return RECIPES[self]

    @property
    def epsilon(self) -> float | None:
        """Total, of the paper's unit or of one record."""
        epsilons = {System.LIGHT: PAPER_EPSILON, System.RECORD: RECORD_EPSILON}
        return epsilons.get(self)

    @property
    def one_image_of(self) -> int:
        """FedAvg has enough with a sixth of the training images."""
        return 6 if self is System.FEDAVG else 1

    @property
    def attacks(self) -> tuple[Attack, ...]:
        others = _AGAINST_FEDPERM if self is System.FEDAVG else _AGAINST_FEDAVG
        return tuple(attack for attack in Attack if attack not in others)

    @property
    def defences(self) -> tuple["Defence", ...]:
        if self is System.FEDAVG:
            return (
                Defence.NONE,
                Defence.CLIPPED,
                Defence.MEDIAN,
                Defence.TRIMMED,
                Defence.KRUM,
            )
        return Defence.NONE, Defence.PAPER, Defence.CENTRED


class Defence(StrEnum):
    """Bounds of FedPerm, and rules for a server that sees every update."""

    NONE = "none"
    PAPER = "paper"
    CENTRED = "centred"
    CLIPPED = "clipped"
    MEDIAN = "median"
    TRIMMED = "trimmed"
    KRUM = "multi-krum"


@dataclass(frozen=True)
class Case:
    """One cell: `malicious` of the 15 clients attack."""

    attack: Attack
    malicious: int

    @property
    def name(self) -> str:
        return f"{self.attack}/{self.malicious}"


def attacker_counts(system: System, defence: Defence) -> tuple[int, ...]:
    """How many of the 15 clients are malicious: 2, 3 and 5 are 13, 20 and 33 %. One by itself is
    played where a bound leaves it so little room that forging masks makes a difference."""
    if system is System.FEDAVG:
        return USUAL_ATTACKERS, 5
    if defence is not Defence.CENTRED:
        return (USUAL_ATTACKERS,)
    return (2, USUAL_ATTACKERS, 5) if system is System.LIGHT else (1, USUAL_ATTACKERS)


def cases(system: System, malicious: tuple[int, ...]) -> tuple[Case, ...]:
    """Nobody is nobody, whatever their number."""
    attacks = [attack for attack in system.attacks if attack is not Attack.NOBODY]
    return (
        Case(Attack.NOBODY, 0),
        *(Case(attack, count) for count in malicious for attack in attacks),
    )
