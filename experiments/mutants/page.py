"""What `make mutants` prints."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiments.mutants.judged import judgement_of, judgements
from experiments.mutants.results import Fate, Result

FLOOR = 0.85
_ROW = "{:<38} {:>7} {:>7} {:>8} {:>9} {:>7}"


def killed_share(results: Sequence[Result]) -> float:
    """A mutant that never ends was noticed too."""
    survived = sum(result.fate is Fate.SURVIVED for result in results)
    return 1 - survived / len(results) if results else 0.0


def page(results: Sequence[Result]) -> str:
    return "\n".join([*_table(results), "", *_apart(results)])


def _table(results: Sequence[Result]) -> Iterator[str]:
    yield _ROW.format("module", "mutants", "killed", "timeout", "survived", "")
    for module in dict.fromkeys(result.module for result in results):
        yield _row(module, [result for result in results if result.module == module])
    yield _row("all", results)


def _row(name: str, results: Sequence[Result]) -> str:
    fates = Counter(result.fate for result in results)
    counts = (fates[Fate.KILLED], fates[Fate.TIMEOUT], fates[Fate.SURVIVED])
    return _ROW.format(name, len(results), *counts, f"{killed_share(results):.1%}")


def _apart(results: Sequence[Result]) -> Iterator[str]:
    known = judgements()
    for result in results:
        if result.fate is Fate.KILLED:
            continue
        judgement = judgement_of(result, known)
        said = "not judged" if judgement is None else f"{judgement.kind}: {judgement.why}"
        yield f"{result.fate}  {result.path}:{result.line}  {result.function or 'at import'}"
        yield f"    - {result.before}"
        yield f"    + {result.after}"
        if result.fate is Fate.SURVIVED:
            yield f"    {said}" if result.asked else f"    no test calls it; {said}"
