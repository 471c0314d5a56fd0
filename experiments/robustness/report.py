"""Robustness in words and tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from string import Template

from experiments.paper.records import ResultFile
from experiments.robustness.setting import (
    IN_WORDS,
    MALICIOUS,
    SEEDS,
    Attack,
    Defence,
    System,
)
from experiments.robustness.summary import Cell, Summary, summary_of

_TEMPLATE = Path(__file__).with_name("section.template.md")
_BACKDOORS = (Attack.NOBODY, Attack.BACKDOOR, Attack.BOOSTED)
_USUAL = 3

LABELS = {
    Defence.NONE: "no bound",
    Defence.PAPER: "the paper's bound",
    Defence.CENTRED: "centred bound",
    Defence.CLIPPED: "norms clipped to their median",
    Defence.MEDIAN: "coordinate median",
    Defence.TRIMMED: "trimmed mean",
    Defence.KRUM: "multi-Krum",
}


def section(results: ResultFile) -> str:
    """Empty before anything was measured."""
    found = summary_of(results)
    if not found:
        return ""
    return Template(_TEMPLATE.read_text()).substitute(_tables(found) | _figures(found)).strip()


def _tables(found: Summary) -> dict[str, str]:
    return {
        "seeds": ", ".join(map(str, SEEDS)),
        "light": _text(by_defence(found, System.LIGHT)),
        "by_number": _text(by_number(found, System.LIGHT, Defence.CENTRED)),
        "record": _text(by_defence(found, System.RECORD)),
        "fedavg": _text(by_defence(found, System.FEDAVG)),
    }


def _figures(found: Summary) -> dict[str, str]:
    """What the text names: `light_unnoised` is the accuracy under the centred bound, and so on."""
    figures = {
        "noise_unbounded": _accuracy(found, System.LIGHT, Defence.NONE, Attack.NOISE),
        "noise_bounded": _accuracy(found, System.LIGHT, Defence.CENTRED, Attack.NOISE),
    }
    for name, system in (("light", System.LIGHT), ("record", System.RECORD)):
        figures[f"{name}_scale"] = f"{found.scales.get(system, 0.0):.3g}"
        figures[f"{name}_room"] = _room(found, system)
        for attack in (Attack.UNNOISED, Attack.ARRANGED, Attack.BOOSTED):
            accuracy = _accuracy(found, system, Defence.CENTRED, attack)
            figures[f"{name}_{attack.name.lower()}"] = accuracy
        nobody = _accuracy(found, system, Defence.CENTRED, Attack.NOBODY)
        figures[f"{name}_nobody"] = nobody.partition(" (")[0]
    return figures


def by_defence(found: Summary, system: System, malicious: int = _USUAL) -> Iterator[str]:
    """A line for each attack, a column for each defence."""
    yield from _head([_label(system, defence) for defence in system.defences])
    for attack in system.attacks:
        cells = [found.cell(system, defence, attack, malicious) for defence in system.defences]
        yield _line(attack, cells)


def by_number(found: Summary, system: System, defence: Defence) -> Iterator[str]:
    """A line for each attack, a column for each number of attackers."""
    yield from _head([f"{number} of 15" for number in MALICIOUS])
    for attack in system.attacks:
        yield _line(attack, [found.cell(system, defence, attack, n) for n in MALICIOUS])


def _label(system: System, defence: Defence) -> str:
    return "mean" if (system, defence) == (System.FEDAVG, Defence.NONE) else LABELS[defence]


def _head(columns: Sequence[str]) -> Iterator[str]:
    yield f"| attack | {' | '.join(columns)} |"
    yield "|---|" + "---|" * len(columns)


def _line(attack: Attack, cells: Iterable[Cell | None]) -> str:
    words = [_words(attack, cell, _with_deviation) for cell in cells]
    return f"| {IN_WORDS[attack]} | {' | '.join(words)} |"


def _words(attack: Attack, cell: Cell | None, accuracy: Callable[[Cell], str]) -> str:
    if cell is None:
        return "not measured"
    if cell.stops:
        return "refused by all"
    backdoor = f" (backdoor {cell.backdoor:.1f})" if attack in _BACKDOORS else ""
    return f"{accuracy(cell)}{backdoor}"


def _mean(cell: Cell) -> str:
    return f"{cell.accuracy:.1f}"


def _with_deviation(cell: Cell) -> str:
    return f"{cell.accuracy:.1f} ± {cell.deviation:.1f}"


def _accuracy(found: Summary, system: System, defence: Defence, attack: Attack) -> str:
    return _words(attack, found.cell(system, defence, attack, _USUAL), _mean)


def _room(found: Summary, system: System) -> str:
    """How many times an honest client's largest movement the bound leaves to an attacker who adds
    no noise: sqrt(2 b^2 + 1/4) over 1/2."""
    scale = found.scales.get(system, 0.0)
    return f"{2 * (2 * scale * scale + 0.25) ** 0.5:.1f}"


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)
