"""docs/results.md: written from the result files and nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import Template

from experiments.accuracy import report as accuracy
from experiments.accuracy import tuning_report as tuning
from experiments.accuracy.images import HELD_BACK
from experiments.accuracy.rows import EPSILONS, FEDAVG, ROWS, Table
from experiments.accuracy.searches import CONFIGURATIONS
from experiments.accuracy.searches import SEEDS as TUNING_SEEDS
from experiments.accuracy.summary import summaries
from experiments.encrypted import report as encrypted
from experiments.paper.origins_report import origins_table
from experiments.paper.records import COMMITTED, read
from experiments.robustness import report as robustness
from experiments.timing import report as timing

_TEMPLATE = Path(__file__).with_name("results.template.md")
PARTS = ("accuracy", "tuning", "robustness", "encrypted", "timing")


def results_document(folder: Path, seeds: Sequence[int]) -> str:
    """Of the result files in this folder: of rows that were measured on these seeds."""
    return Template(_TEMPLATE.read_text()).substitute(
        {"banner": "" if folder == COMMITTED else _elsewhere(seeds)}
        | _accuracy(folder, seeds)
        | _tuning()
        | _minutes(folder)
        | {"others": _others(folder), "origins": _origins(folder)}
    )


def _elsewhere(seeds: Sequence[int]) -> str:
    numbers = ", ".join(map(str, seeds))
    return (
        f"**Measured again, from the files beside it, seeds {numbers}.** The text is that of\n"
        'docs/results.md and was written for all measurements: where a cell says "not measured",\n'
        "what the text concludes from it is not shown here. Robustness in fewer rounds is not\n"
        "comparable with that page.\n\n"
    )


def _accuracy(folder: Path, seeds: Sequence[int]) -> dict[str, str]:
    found = summaries(read(folder, "accuracy"), seeds)
    return {
        "test_seeds": ", ".join(map(str, seeds)),
        "against_the_paper": _text(accuracy.against_the_paper(found)),
        **accuracy.of_gaussian(),
        "by_epsilon": _text(accuracy.by_epsilon(found)),
        "all_units": _text(_all_units(found)),
        "by_record": _text(accuracy.by_record(found)),
        "by_cost": _text(accuracy.by_cost(found)),
        "raw": _text(accuracy.raw(found)),
    }


def _all_units(found: accuracy.Summaries) -> Iterator[str]:
    for epsilon in EPSILONS:
        rows = [r for r in ROWS if r.table is Table.PAPER_UNIT and r.wish.epsilon == epsilon]
        lines = list(accuracy.all_units(found, [FEDAVG, *rows]))
        yield from (f"### All units, total epsilon {epsilon:g}", "", *lines, "")


def _tuning() -> dict[str, str]:
    """What recipes are taken from, wherever the rest is measured."""
    trials = read(COMMITTED, "tuning")
    return {
        "configurations": str(CONFIGURATIONS),
        "tuning_seeds": " and ".join(map(str, TUNING_SEEDS)),
        "held_back": f"{HELD_BACK:,}",
        "searches": _text(tuning.searches_table(trials)),
        **tuning.halved_cdp(trials),
        "second_looks": _text(tuning.second_looks_table(trials)),
        "ideas": _text(tuning.ideas_table(trials)),
    }


def _others(folder: Path) -> str:
    """What other packages write of their own results."""
    sections = {"robustness": robustness, "encrypted": encrypted, "timing": timing}
    texts = [report.section(read(folder, part)) for part, report in sections.items()]
    return "".join(f"\n{text.strip()}\n" for text in texts if text)


def _origins(folder: Path) -> str:
    files = [read(folder, part) for part in PARTS]
    return _text(origins_table([file for file in files if file.records]))


def _minutes(folder: Path) -> dict[str, str]:
    """Of CPUs, without tuning: what two cores share, and what has the machine to itself."""
    shared, alone = (
        sum(record.cpu_seconds for part in parts for record in read(folder, part).records) / 60
        for parts in (("accuracy", "robustness"), ("encrypted", "timing"))
    )
    return {"shared_minutes": f"{shared:.0f}", "alone_minutes": f"{alone:.0f}"}


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines).strip()
