"""Robustness in words and tables."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from string import Template

from experiments.paper.records import ResultFile
from experiments.robustness.setting import (
    IN_WORDS,
    USUAL_ATTACKERS,
    Attack,
    Defence,
    System,
    attacker_counts,
)
from experiments.robustness.summary import Cell, Summary, summary_of
from fedperm.norm_bound import honest_limit
from fedperm_cli.presets import LIGHT

_TEMPLATE = Path(__file__).with_name("section.template.md")
BACKDOORS = (Attack.NOBODY, Attack.BACKDOOR, Attack.BOOSTED)
_NAMED = (
    Attack.FLIP,
    Attack.LABELS,
    Attack.UNNOISED,
    Attack.ARRANGED,
    Attack.BACKDOOR,
    Attack.BOOSTED,
    Attack.MASKS_1000,
)
"""In the text, under the centred bound."""

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
        **{
            f"{system.name.lower()}_{what}": words
            for system in System
            for what, words in _how(found, system)
        },
        "light": _text(by_defence(found, System.LIGHT)),
        "light_by_number": _text(by_number(found, System.LIGHT, Defence.CENTRED)),
        "record": _text(by_defence(found, System.RECORD)),
        "record_by_number": _text(by_number(found, System.RECORD, Defence.CENTRED)),
        "fedavg": _text(by_defence(found, System.FEDAVG)),
        "fedavg_of_5": _text(by_defence(found, System.FEDAVG, 5)),
    }


def _how(found: Summary, system: System) -> Iterator[tuple[str, str]]:
    played = found.played.get(system)
    yield "rounds", "no" if played is None else str(played.rounds)
    yield "seeds", "none" if played is None else ", ".join(map(str, played.seeds))
    yield "scale", f"{_scale(found, system):.3g}"


def _scale(found: Summary, system: System) -> float:
    return found.played[system].laplace_scale if system in found.played else 0.0


def _figures(found: Summary) -> dict[str, str]:
    """What the text names: `light_unnoised` is the accuracy under the centred bound, and so on."""
    figures = {
        "noise_unbounded": _accuracy(found, System.LIGHT, Defence.NONE, Attack.NOISE),
        "noise_bounded": _accuracy(found, System.LIGHT, Defence.CENTRED, Attack.NOISE),
        "silent": _accuracy(found, System.LIGHT, Defence.CENTRED, Attack.SILENT),
    }
    for name, system in (("light", System.LIGHT), ("record", System.RECORD)):
        figures[f"{name}_room"] = _room(found, system)
        for attack in _NAMED:
            accuracy = _accuracy(found, system, Defence.CENTRED, attack)
            figures[f"{name}_{attack.name.lower()}"] = accuracy
        nobody = _accuracy(found, system, Defence.CENTRED, Attack.NOBODY)
        figures[f"{name}_nobody"] = nobody.partition(" (")[0]
    for attack in (Attack.UNNOISED, Attack.MASKS_10):
        accuracy = _accuracy(found, System.RECORD, Defence.CENTRED, attack, malicious=1)
        figures[f"record_single_{attack.name.lower()}"] = accuracy
    return figures


def by_defence(found: Summary, system: System, malicious: int = USUAL_ATTACKERS) -> Iterator[str]:
    """A line for each attack, a column for each defence."""
    yield from _head([_label(system, defence) for defence in system.defences])
    for attack in system.attacks:
        cells = [found.cell(system, defence, attack, malicious) for defence in system.defences]
        yield _line(attack, cells)


def by_number(found: Summary, system: System, defence: Defence) -> Iterator[str]:
    """A line for each attack, a column for each number of attackers."""
    malicious = attacker_counts(system, defence)
    yield from _head([f"{number} of 15" for number in malicious])
    for attack in system.attacks:
        yield _line(attack, [found.cell(system, defence, attack, n) for n in malicious])


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
        where = "" if cell.stopped == cell.seeds else f" on {cell.stopped} of {cell.seeds} seeds"
        return f"refused by all{where}"
    backdoor = f" (backdoor {cell.backdoor:.1f})" if attack in BACKDOORS else ""
    return f"{accuracy(cell)}{backdoor}"


def _mean(cell: Cell) -> str:
    return f"{cell.accuracy:.1f}"


def _with_deviation(cell: Cell) -> str:
    return _mean(cell) if cell.seeds == 1 else f"{_mean(cell)} ± {cell.deviation:.1f}"


def _accuracy(
    found: Summary,
    system: System,
    defence: Defence,
    attack: Attack,
    malicious: int = USUAL_ATTACKERS,
) -> str:
    return _words(attack, found.cell(system, defence, attack, malicious), _mean)


def _room(found: Summary, system: System) -> str:
    """How many times an honest client's largest movement the centred bound leaves to an attacker
    who adds no noise."""
    limit = honest_limit(LIGHT.padded_d, _scale(found, system))
    return f"{limit / (0.5 * math.sqrt(LIGHT.padded_d)):.1f}"


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)
